//! Models that are reaction networks: their mistakes, their statistics and their runs.

use super::Bench;

/// Dimerization as in the paper, small enough to run in a moment.
const DIMERS: &str = r#"name = "dimers"

[parameters]
k1 = { law = "log-uniform", low = 1e-2, high = 1 }
k3 = { law = "log-uniform", low = 1e-3, high = 1 }

[model.network]
reactions = """
S1      -> 0        @ k1        # decay
S1 + S1 -> S2       @ k3
S2      -> S1 + S1  @ 0.5
"""
initial = { S1 = 100 }
times = { to = 4, count = 4 }
observe = ["S1", "total = S1 + 2*S2"]

[observed]
truth = { k1 = 0.1, k3 = 0.01 }

[method]
simulations = 400
keep = 40
generations = 2
"#;

#[track_caller]
fn with(piece: &str, by: &str) -> String {
    assert!(DIMERS.contains(piece), "{piece}");
    DIMERS.replace(piece, by)
}

/// What is said about a file with mistakes, which must be all of them.
#[track_caller]
fn told(problem: &str) -> String {
    let bench = Bench::new(problem);
    let done = bench.run(&["check", "p.toml"]).exits(2);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
    done.stderr.trim_end().to_owned()
}

/// Checks that there is exactly this mistake, at this place.
#[track_caller]
fn refused(problem: &str, place: &str, message: &str, hint: &str) {
    let text = told(problem);
    assert_eq!(text.matches("error: ").count(), 1, "{text}");
    assert!(text.starts_with(&format!("error: {message}\n")), "{message} is not said in:\n{text}");
    assert!(text.contains(&format!("--> {place}\n")), "{place} is not in:\n{text}");
    let said = text.split("= hint: ").nth(1).map_or("", str::trim_end);
    assert_eq!(said, hint, "{text}");
}

#[test]
fn a_mistake_in_the_reactions_is_shown_in_the_file() {
    assert_eq!(
        told(&with("@ k3", "@ kk3")),
        "\
error: `kk3` is not known
  --> p.toml:10:23
   |
10 | S1 + S1 -> S2       @ kk3
   |                       ^^^
   |
   = hint: did you mean `k3`?"
    );
}

#[test]
fn every_mistake_of_the_reactions_at_once() {
    let text = told(&with("S1 + S1 -> S2       @ k3", "S1 S1 -> S2 @ k3\nS1 -> S3\nS1 -> S1 @ speed"));
    for (place, message) in [
        ("p.toml:10:4", "expected `+` or `->`, found `S1`"),
        ("p.toml:11:1", "this reaction has no rate"),
        ("p.toml:12:1", "this reaction changes nothing"),
    ] {
        assert!(text.contains(message) && text.contains(&format!("--> {place}\n")), "{text}");
    }
    assert!(text.ends_with("3 mistakes; nothing was simulated"), "{text}");
}

#[test]
fn mistakes_of_the_reactions() {
    let unknown = "add it to [parameters] or model.network.constants";
    refused(&with("@ 0.5", "@ speed"), "p.toml:11:23", "`speed` is not known", unknown);
    refused(
        &with("@ 0.5", "@ 0.5 * S1"),
        "p.toml:11:29",
        "`S1` changes in time, and the constant of mass action must not",
        "a rate that is no constant stands in braces: @ { ... }",
    );
    refused(
        &with("S2      -> S1 + S1  @ 0.5", "S2 -> k1 @ 0.5"),
        "p.toml:11:7",
        "`k1` is a parameter and cannot be a species too",
        "",
    );
    let literal = DIMERS.replace("\"\"\"", "'''").replace("@ 0.5", "@ speed");
    refused(&literal, "p.toml:11:23", "`speed` is not known", unknown);
    let windows = with("@ 0.5", "@ speed").replace('\n', "\r\n");
    refused(&windows, "p.toml:11:23", "`speed` is not known", unknown);
    let escaped = with("# decay", "\\u0023 decay").replace("@ 0.5", "@ speed");
    refused(&escaped, "p.toml: model.network.reactions:3:23", "`speed` is not known", unknown);
    let empty = with("S1      -> 0        @ k1        # decay\nS1 + S1 -> S2       @ k3\n", "");
    let empty = empty.replace("S2      -> S1 + S1  @ 0.5\n", "");
    assert!(told(&empty).contains("there are no reactions"), "{}", told(&empty));
}

#[test]
fn names_that_are_unused_or_taken() {
    refused(
        &with("k3 = {", "k3 = { law = \"exponential\", rate = 1 }\nk9 = {")
            .replace("0.01 }", "0.01, k9 = 1 }"),
        "p.toml:6:1",
        "the parameter `k9` occurs nowhere in the model",
        "use it, or remove it from [parameters]",
    );
    refused(
        &with("k3 = {", "k3 = { law = \"exponential\", rate = 1 }\n\"k-9\" = {")
            .replace("0.01 }", "0.01, \"k-9\" = 1 }"),
        "p.toml:6:1",
        "`k-9` cannot be a name in a network",
        "names are made of letters, digits and _, and begin with no digit",
    );
    refused(
        &with("initial =", "constants = { k1 = 2 }\ninitial ="),
        "p.toml:13:15",
        "`k1` is a parameter and cannot be a constant too",
        "",
    );
    refused(
        &with("initial =", "rules = { S1 = \"2\" }\ninitial ="),
        "p.toml:13:11",
        "`S1` is a species and cannot be a rule too",
        "",
    );
    refused(
        &with("initial =", "rules = { a = \"later + S1\", later = \"2*S1\" }\ninitial ="),
        "p.toml:13:16",
        "`later` is not known",
        "a rule may use the rules before it",
    );
}

#[test]
fn initial_amounts() {
    let initial = |text: &str| with("{ S1 = 100 }", text);
    refused(
        &initial("{ S1 = 100, S11 = 3 }"),
        "p.toml:13:23",
        "`S11` is in no reaction, rate, rule or observable",
        "did you mean `S1`?",
    );
    refused(
        &initial("{ S1 = -1 }"),
        "p.toml:13:18",
        "`model.network.initial.S1` must be a number from 0 to 2^53, found -1",
        "",
    );
    refused(
        &initial("{ S1 = 1.5 }"),
        "p.toml:13:18",
        "`model.network.initial.S1` must be a whole number, found 1.5: reactions change `S1`",
        "",
    );
    refused(
        &initial("{ S1 = \"2 * S2\" }"),
        "p.toml:13:23",
        "`S2` changes in time, and an initial amount must not",
        "",
    );
    refused(
        &initial("{ S1 = \"2 * n0\" }"),
        "p.toml:13:23",
        "`n0` is not known",
        "add it to [parameters] or model.network.constants",
    );
    refused(
        &initial("3"),
        "p.toml:13:11",
        "`model.network.initial` must be a table, found a whole number",
        "",
    );
}

#[test]
fn reactions_that_never_happen() {
    refused(
        &with("S1      -> 0 ", "s1      -> 0 "),
        "p.toml:9:1",
        "there is never any `s1`, so `s1 -> 0` never happens",
        "did you mean `S1`? If not, give it an amount in model.network.initial",
    );
    let text = told(&with("initial = { S1 = 100 }\n", ""));
    for species in ["S1", "S2"] {
        assert!(text.contains(&format!("error: there is never any `{species}`, so ")), "{text}");
    }
    // An amount that is written down is meant, and what others make comes to be.
    for initial in ["{ S1 = 0 }", "{ S2 = 100 }", "{ S1 = \"1e3 * k1\" }"] {
        Bench::new(&with("{ S1 = 100 }", initial)).run(&["simulate", "p.toml", "--rows", "1"]).exits(0);
    }
}

#[test]
fn texts_in_place_of_tables_and_lists_in_place_of_texts() {
    let list = DIMERS.replace("reactions = \"\"\"\n", "reactions = [").replace("\"\"\"\n", "]\n");
    let list = list.replace("S1      -> 0        @ k1        # decay\nS1 + S1 -> S2       @ k3\n", "");
    refused(
        &list.replace("S2      -> S1 + S1  @ 0.5\n", "\"S2 -> S1 + S1 @ 0.5\""),
        "p.toml:8:13",
        "`model.network.reactions` must be one text",
        "between three quotes \"\"\", one a line, for example A + B -> C @ k",
    );
    refused(
        &with("observe =", "noise = \"normal\"\nobserve ="),
        "p.toml:15:9",
        "`model.network.noise` must be a table, found text",
        "noise = { law = \"normal\", size = 1 }",
    );
}

#[test]
fn times() {
    let times = |text: &str| with("{ to = 4, count = 4 }", text);
    refused(
        &with("times = { to = 4, count = 4 }\n", ""),
        "p.toml:7:8",
        "`model.network.times` is missing",
        "times = [1, 2, 5], or times = { to = 100, count = 10 }",
    );
    refused(
        &times("[1, 3, 2]"),
        "p.toml:14:16",
        "expected observation times of at least 0 in ascending order, found 2 at place 3",
        "",
    );
    refused(
        &times("[1, \"2\"]"),
        "p.toml:14:13",
        "`model.network.times` must be a list of numbers, found text in it",
        "",
    );
    refused(&times("[]"), "p.toml:14:9", "expected 1 to 10000 observation times, found 0", "");
    refused(
        &times("{ to = 4, count = 4, spacing = \"geometric\" }"),
        "p.toml:14:1",
        "`model.network.times.first` is missing",
        "geometric times have equal ratios from first to to",
    );
    refused(
        &times("{ to = 4, count = 4, first = 5 }"),
        "p.toml:14:38",
        "`first` must be below `to`, found 5 and 4",
        "",
    );
    refused(
        &times("{ to = 4 }"),
        "p.toml:14:1",
        "`model.network.times.count` is missing",
        "for example times = { to = 100, count = 10 }",
    );
}

#[test]
fn observables_and_noise() {
    let observe = |text: &str| with("[\"S1\", \"total = S1 + 2*S2\"]", text);
    refused(&observe("[\"S1\", \"S9\"]"), "p.toml:15:19", "`S9` is not known", "did you mean `S1`?");
    refused(
        &observe("[\"infected\"]"),
        "p.toml:15:13",
        "`infected` is not known",
        "it is neither a species (S1, S2) nor a rule, constant or parameter",
    );
    refused(
        &observe("[\"S1 + S2\"]"),
        "p.toml:15:13",
        "an expression that is observed needs a name",
        "name it, as in \"total = S1 + S2\"",
    );
    refused(&observe("[\"S1\", \"S1\"]"), "p.toml:15:18", "`S1` is observed twice", "");
    refused(&observe("[]"), "p.toml:15:11", "nothing is observed", "leave it out to observe every species");
    refused(
        &observe("\"S1\""),
        "p.toml:15:11",
        "`model.network.observe` must be a list of texts, found text",
        "",
    );
    let noise = |text: &str| with("observe =", &format!("noise = {text}\nobserve ="));
    refused(
        &noise("{ law = \"normal\" }"),
        "p.toml:15:1",
        "`model.network.noise.size` is missing",
        "a number, or an expression of parameters such as \"sigma\"",
    );
    refused(
        &noise("{ law = \"normal\", size = \"S1\" }"),
        "p.toml:15:35",
        "`S1` changes in time, and the size of noise must not",
        "",
    );
    refused(
        &noise("{ S2 = { law = \"poisson\" } }"),
        "p.toml:15:11",
        "there is no observable `S2`",
        "did you mean `S1`?",
    );
    refused(
        &noise("{ law = \"gauss\", size = 1 }"),
        "p.toml:15:17",
        "`model.network.noise.law` must be one of normal, log-normal, poisson, found `gauss`",
        "",
    );
}

#[test]
fn simulators_and_kinds() {
    let key = |text: &str| with("observe =", &format!("{text}\nobserve ="));
    refused(
        &key("simulator = \"tau-leeping\""),
        "p.toml:15:13",
        "`model.network.simulator` must be one of direct, tau-leaping, found `tau-leeping`",
        "did you mean `tau-leaping`?",
    );
    refused(
        &key("simulator = { rule = \"tau-leaping\", epsilon = 2 }"),
        "p.toml:15:47",
        "`model.network.simulator.epsilon` must be above 0 and below 1, found 2",
        "",
    );
    refused(
        &key("max_events = 0"),
        "p.toml:15:14",
        "`model.network.max_events` must be a whole number from 1 to 1000000000000000, found 0",
        "",
    );
    refused(
        &key("mass_action = \"sets\""),
        "p.toml:15:15",
        "`model.network.mass_action` must be one of combinations, permutations, found `sets`",
        "",
    );
    refused(
        &key("obsreve = []"),
        "p.toml:15:1",
        "unknown key `obsreve` in `model.network`",
        "did you mean `observe`?",
    );
    refused(
        &with("[model.network]", "[model]\nbuiltin = \"death\"\n[model.network]"),
        "p.toml:9:8",
        "[model] has builtin and network at once",
        "keep exactly one of them",
    );
    let without =
        DIMERS.replace("[parameters]\n", "[observed.truth]\n").replace("truth = { k1 = 0.1, k3 = 0.01 }", "");
    assert!(told(&without).contains("`parameters` is missing"), "{}", told(&without));
}

#[test]
fn files_in_sbml() {
    let head = DIMERS.split("[model.network]").next().unwrap();
    let tail = "[observed]\ntruth = { k1 = 0.1, k3 = 0.01 }\n";
    let problem = |keys: &str| format!("{head}[model.sbml]\n{keys}\n{tail}");
    refused(&problem("times = [1]"), "p.toml:7:8", "`model.sbml.file` is missing", "file = \"model.xml\"");
    refused(
        &problem("file = \"nowhere.xml\"\ntimes = [1]"),
        "p.toml:8:8",
        "cannot read nowhere.xml: No such file or directory (os error 2)",
        "the path is relative to the problem file",
    );
    let bench = Bench::new(&problem("file = \"m.xml\"\ntimes = [1]"));
    bench.write(
        "m.xml",
        super::sbml::DIMERS
            .replace("Binding", "k3")
            .replace("<parameter id=\"k1\"", "<parameter id=\"k9\"")
            .replace("<ci>k1</ci>", "<ci>k9</ci>"),
    );
    let done = bench.run(&["check", "p.toml"]).exits(2);
    done.says("there is no quantity \"k1\"")
        .says("--> p.toml:4:1\n")
        .says("hint: `counterpoise sbml m.xml` lists what");
    bench.write("m.xml", "this is no XML");
    bench.run(&["check", "p.toml"]).exits(2).says("--> m.xml:1:1");
    bench.write("m.xml", [0xff, 0xfe]);
    bench.run(&["check", "p.toml"]).exits(2).says("this is not UTF-8").says("--> m.xml:1:1");
}

#[test]
fn a_network_is_checked_and_its_convention_told() {
    let bench = Bench::new(DIMERS);
    let done = bench.run(&["check", "p.toml"]).exits(0);
    let model = "model: 3 reactions, 2 species, mass action by combinations (k S (S - 1) / 2 for S + S), direct method\n";
    assert!(done.stdout.contains(model), "{}", done.stdout);
    let key = "model.network.mass_action=permutations";
    let leap = "model.network.simulator=tau-leaping";
    let epsilon = "model.network.simulator.epsilon=0.02";
    let changed = bench.run(&["check", "p.toml", "--set", key, "--set", leap, "--set", epsilon, "--json"]);
    assert_eq!(
        changed.exits(0).json()["model"],
        "3 reactions, 2 species, mass action by permutations (k S (S - 1) for S + S), tau-leaping with epsilon = 0.02"
    );
}

#[test]
fn the_convention_is_told_only_where_it_matters() {
    let plain = with("S1 + S1 -> S2       @ k3", "S1 -> S2 @ k3")
        .replace("observe = [\"S1\", \"total = S1 + 2*S2\"]\n", "");
    let done = Bench::new(&plain).run(&["check", "p.toml"]).exits(0);
    assert!(done.stdout.contains("model: 3 reactions, 2 species, direct method\n"), "{}", done.stdout);
}

#[test]
fn a_network_is_simulated_under_the_names_of_its_observables() {
    let done = Bench::new(DIMERS).run(&["simulate", "p.toml", "--rows", "3"]).exits(0);
    let header = "k1,k3,S1@1,S1@2,S1@3,S1@4,total@1,total@2,total@3,total@4\n";
    assert!(done.stdout.starts_with(header), "{}", done.stdout);
    // What decays is gone: the total never rises.
    for row in done.stdout.lines().skip(1) {
        let totals: Vec<f64> = row.split(',').skip(6).map(|cell| cell.parse().unwrap()).collect();
        assert!(totals[0] <= 100.0 && totals.windows(2).all(|pair| pair[1] <= pair[0]), "{row}");
    }
}

#[test]
fn a_network_is_run_and_shown() {
    let bench = Bench::new(DIMERS);
    let done = bench.run(&["run", "p.toml", "--into", "here", "--json"]).exits(0).json();
    assert_eq!(done["simulations"], 800);
    assert!(done["model"].as_str().unwrap().contains("mass action by combinations"));
    assert!(bench.run(&["show", "here"]).exits(0).stdout.contains("mass action by combinations"));
    bench.write("p.toml", with("@ 0.5", "@ 0.6"));
    bench.run(&["run", "p.toml", "--into", "here"]).exits(2);
}

#[test]
fn observations_as_a_time_course() {
    let bench = Bench::new(&with("truth = { k1 = 0.1, k3 = 0.01 }", "file = \"o.csv\""));
    let run = |table: &str| {
        bench.write("o.csv", table);
        bench.run(&["check", "p.toml"])
    };
    let rows = "2,60,80\n4,50,70\n1.0000001,70,90\n3e0,55,75\n";
    run(&format!("time,S1,total\n{rows}")).exits(0);
    run("S1,time,total\n70,1,90\n60,2,80\n55,3,75\n50,4,70\n").exits(0);
    let course = bench.run(&["run", "p.toml", "--json", "--into", "a"]).exits(0).json();
    run("S1@1,S1@2,S1@3,S1@4,total@1,total@2,total@3,total@4\n70,60,55,50,90,80,75,70\n").exits(0);
    let row = bench.run(&["run", "p.toml", "--json", "--into", "b"]).exits(0).json();
    assert!(course["parameters"].is_object(), "{course}");
    assert_eq!(course["parameters"], row["parameters"]);
    let refused = |table: &str, place: &str, message: &str, hint: &str| {
        let done = run(table).exits(2);
        assert_eq!(done.stderr.matches("error: ").count(), 1, "{}", done.stderr);
        done.says(message).says(&format!("--> {place}\n")).says(hint);
    };
    refused(
        "time,S1,total\n1,2,3\n2,3,4\n",
        "o.csv:1:1",
        "there are no rows for the times 3, 4 of the model",
        "a row for each observation time",
    );
    refused(
        &format!("time,S1,total\n{rows}5,1,1\n"),
        "o.csv:6:1",
        "the model is not observed at the time 5",
        "it is observed at 1, 2, 3, 4",
    );
    refused(&format!("time,S1,total\n{rows}1,1,1\n"), "o.csv:6:1", "the time 1 is given twice", "");
    refused(&format!("time,S1,totl\n{rows}"), "o.csv:1:9", "the model has no observable `totl`", "`total`?");
    refused("time,S1\n1,1\n2,1\n3,1\n4,1\n", "o.csv:1:1", "4 statistics of the model are missing", "");
    refused(
        &format!("time,S1,total\n{rows}4.0\n"),
        "o.csv:6:1",
        "the header has 3 cells and this row has 1",
        "",
    );
    refused("time,S1,total\n1,x,1\n2,1,1\n3,1,1\n4,1,1\n", "o.csv:2:3", "`S1` must be a number", "");
    refused(
        "S1,total\n1,2\n3,4\n",
        "o.csv:3:1",
        "expected one row below the header, found 2",
        "has a column `time`: time,S1",
    );
    let names = "S1@1.0,S1@2,S1@3,S1@4,total@1,total@2,total@3,total@4\n70,60,55,50,90,80,75,70\n";
    run(names).exits(2).says("the model has no statistic `S1@1.0`").says("did you mean `S1@1`?");
}

/// A model with a rule for one species, a boundary species, and an event that sets a parameter.
#[test]
fn species_of_sbml_are_observed_by_default() {
    let math = |inside: &str| format!("<math xmlns=\"http://www.w3.org/1998/Math/MathML\">{inside}</math>");
    let model = super::sbml::DIMERS
        .replace(
            "</listOfSpecies>",
            "<species id=\"Total\" compartment=\"Cell\" hasOnlySubstanceUnits=\"true\" boundaryCondition=\"true\"/>
            <species id=\"Food\" compartment=\"Cell\" initialAmount=\"7\" hasOnlySubstanceUnits=\"true\" boundaryCondition=\"true\"/>
            </listOfSpecies>",
        )
        .replace("<parameter id=\"k2\" value=\"0.01\"/>", "<parameter id=\"k2\" value=\"0.01\" constant=\"false\"/>")
        .replace(
            "<listOfReactions>",
            &format!(
                "<listOfRules><assignmentRule variable=\"Total\">{}</assignmentRule></listOfRules><listOfReactions>",
                math("<apply><plus/><ci>P</ci><ci>P2</ci><ci>P2</ci></apply>")
            ),
        )
        .replace(
            "</listOfReactions>",
            &format!(
                "</listOfReactions><listOfEvents><event id=\"e\"><trigger>{}</trigger><listOfEventAssignments>
                <eventAssignment variable=\"k2\">{}</eventAssignment></listOfEventAssignments></event></listOfEvents>",
                math("<apply><gt/><ci>P2</ci><cn>3</cn></apply>"),
                math("<cn>1</cn>")
            ),
        );
    let problem = "[parameters]\n\"Binding.k1\" = { law = \"log-uniform\", low = 1e-4, high = 1e-2 }\n
[model.sbml]\nfile = \"m.xml\"\ntimes = [1]\n\n[observed]\ntruth = { \"Binding.k1\" = 1e-3 }\n";
    let bench = Bench::new(problem);
    bench.write("m.xml", &model);
    let done = bench.run(&["simulate", "p.toml", "--rows", "2"]).exits(0);
    assert!(done.stdout.starts_with("Binding.k1,P@1,P2@1,Total@1,Food@1\n"), "{}", done.stdout);
    for row in done.stdout.lines().skip(1) {
        assert!(row.ends_with(",100,7"), "{row}");
    }
    // No convention is told: the file says the law. Here it has S (S - 1).
    let pairs = "<ci>P</ci><apply><minus/><ci>P</ci><cn>1</cn></apply></apply>";
    bench.write("m.xml", model.replace("<ci>P</ci><ci>P</ci></apply>", pairs));
    let done = bench.run(&["check", "p.toml"]).exits(0);
    assert!(done.stdout.contains("1 event, direct method\n"), "{}", done.stdout);
}

#[test]
fn a_model_without_species_observes_nothing() {
    let problem = "[parameters]\nk = { law = \"uniform\", low = 0, high = 1 }\n
[model.sbml]\nfile = \"m.xml\"\ntimes = [1]\n\n[observed]\ntruth = { k = 0.5 }\n";
    let bench = Bench::new(problem);
    bench.write(
        "m.xml",
        "<sbml xmlns=\"http://www.sbml.org/sbml/level2/version4\" level=\"2\" version=\"4\"><model id=\"m\">
        <listOfParameters><parameter id=\"k\" value=\"1\"/></listOfParameters></model></sbml>",
    );
    let simulated = bench.run(&["simulate", "p.toml", "--rows", "2"]).exits(2);
    simulated.says("error: nothing is observed").says("--> p.toml:4:8\n").says("hint: give observe = [...]");
}
