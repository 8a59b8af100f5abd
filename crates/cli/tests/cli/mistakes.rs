//! Every mistake in a problem file is named with its file, line and column, before anything is simulated.

use super::{Bench, TOY};

/// Checks that a problem is refused by `run` with a mistake at a place, and that nothing was made.
#[track_caller]
fn refused(problem: &str, place: &str, message: &str) {
    let bench = Bench::new(problem);
    refused_on(&bench, &["run", "p.toml"], place, message);
}

#[track_caller]
fn refused_on(bench: &Bench, arguments: &[&str], place: &str, message: &str) {
    let done = bench.run(arguments).exits(2);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
    assert!(!bench.path("runs").exists(), "something was run");
    let blocks: Vec<&str> = done.stderr.split("error: ").collect();
    let here = |block: &&&str| block.contains(&format!("--> {place}\n"));
    let found = blocks.iter().find(|block| here(block) && block.starts_with(message));
    assert!(found.is_some(), "no `{message}` at {place} in:\n{}", done.stderr);
}

/// The toy problem with one piece replaced.
#[track_caller]
fn with(piece: &str, by: &str) -> String {
    assert!(TOY.contains(piece), "{piece}");
    TOY.replace(piece, by)
}

#[test]
fn syntax() {
    refused(&with("seed = 7", "seed = = 7"), "p.toml:17:8", "this is not TOML: ");
    refused(&with("[model]", "[model"), "p.toml:6:7", "this is not TOML: ");
    refused(&with("seed = 7", "seed = 7\nseed = 8"), "p.toml:18:1", "this is not TOML: duplicate key");
}

#[test]
fn unknown_keys_with_a_near_miss() {
    let problem = with("simulations = 400", "simulatons = 400");
    refused(&problem, "p.toml:14:1", "unknown key `simulatons` in `method`");
    let done = Bench::new(&problem).run(&["run", "p.toml"]).exits(2);
    done.says("did you mean `simulations`?").says("14 | simulatons = 400").says("^^^^^^^^^^");
    refused(&with("name =", "nmae ="), "p.toml:1:1", "unknown key `nmae` in the file");
    refused(&format!("{TOY}[stop]\nsecond = 3\n"), "p.toml:19:1", "unknown key `second` in `stop`");
    refused(&with("values", "vales"), "p.toml:11:1", "unknown key `vales` in `observed`");
}

#[test]
fn wrong_types() {
    refused(&with("\"toy problem\"", "3"), "p.toml:1:8", "`name` must be text, found a whole number");
    refused(&with("seed = 7", "seed = \"7\""), "p.toml:17:8", "`method.seed` must be a whole number");
    refused(&with("keep = 40", "keep = [40]"), "p.toml:15:8", "`method.keep` must be a number, found a list");
    refused(
        &with("low = 1,", "low = true,"),
        "p.toml:4:38",
        "`parameters.theta.low` must be a number, found true or",
    );
    refused(
        &with("draws = 3", "draws = 1979-05-27"),
        "p.toml:8:9",
        "`model.draws` must be a number, found a date",
    );
    let number = with("[model]\nbuiltin = \"toy-sorted\"\ndraws = 3\n", "")
        .replace("\n[parameters]", "model = 3\n[parameters]");
    refused(&number, "p.toml:2:9", "`model` must be a table, found a whole number");
}

#[test]
fn laws() {
    let law = |law: &str| with("{ law = \"log-uniform\", low = 1, high = 100 }", law);
    refused(
        &law("{ law = \"uniform\", low = 3, high = 2 }"),
        "p.toml:4:34",
        "parameter theta: low must be below high, found low = 3 and high = 2",
    );
    refused(
        &law("{ law = \"log-uniform\", low = 0, high = 2 }"),
        "p.toml:4:38",
        "parameter theta: low must be above 0",
    );
    refused(
        &law("{ law = \"log-unifrom\", low = 1, high = 2 }"),
        "p.toml:4:17",
        "`parameters.theta.law` must be one of",
    );
    refused(&law("{ low = 1, high = 2 }"), "p.toml:4:1", "`parameters.theta.law` is missing");
    refused(&law("{ law = \"normal\", mean = 1 }"), "p.toml:4:1", "`parameters.theta.sd` is missing");
    refused(
        &law("{ law = \"gamma\", shape = -1, scale = 2 }"),
        "p.toml:4:34",
        "parameter theta: shape must be above 0",
    );
    refused(
        &law("{ law = \"exponential\", rate = 1, scale = 2 }"),
        "p.toml:4:42",
        "unknown key `scale` in `parameters.theta`",
    );
    refused(
        &law("{ law = \"integer\", low = 1.5, high = 9 }"),
        "p.toml:4:34",
        "parameter theta: low must be a whole",
    );
    refused(
        &law("{ law = \"normal\", mean = 0, sd = nan }"),
        "p.toml:4:42",
        "`parameters.theta.sd` must be a finite",
    );
    refused(
        &law("{ law = \"beta\", alpha = 1, beta = 1, low = 2, high = 3 }"),
        "p.toml:4:52",
        "parameter theta: the law gives no probability to [2, 3]",
    );
    refused(
        &law("{ law = \"normal\", mean = 0, sd = 1, low = 2, high = 1 }"),
        "p.toml:4:51",
        "parameter theta: low must",
    );
    refused(
        &law("{ law = \"uniform\", low = 1, high = 1.7e308 }"),
        "p.toml:4:44",
        "`parameters.theta.high` must be 0 or between",
    );
}

#[test]
fn every_law_is_understood() {
    for law in [
        "{ law = \"uniform\", low = 1, high = 20 }",
        "{ law = \"normal\", mean = 10, sd = 2, low = 0 }",
        "{ law = \"log-normal\", mean = 2, sd = 1, high = 50 }",
        "{ law = \"gamma\", shape = 4, scale = 3 }",
        "{ law = \"beta\", alpha = 2, beta = 2, low = 0.1, high = 0.9 }",
        "{ law = \"exponential\", rate = 0.1 }",
        "{ law = \"integer\", low = 1, high = 30 }",
    ] {
        let problem = with("{ law = \"log-uniform\", low = 1, high = 100 }", law);
        Bench::new(&problem).run(&["check", "p.toml"]).exits(0);
    }
}

#[test]
fn parameters_of_the_model() {
    refused(&with("theta =", "thetta ="), "p.toml:4:1", "the model toy-sorted has no parameter `thetta`");
    let other = with("builtin = \"toy-sorted\"\ndraws = 3", "builtin = \"death\"");
    refused(&other, "p.toml:3:2", "the parameter `k` of the model death has no law");
    refused(&other, "p.toml:3:2", "the parameter `sigma` of the model death has no law");
    refused(
        &with("theta = { law = \"log-uniform\", low = 1, high = 100 }\n", ""),
        "p.toml:3:2",
        "[parameters] is empty",
    );
}

#[test]
fn models() {
    refused(
        &with("\"toy-sorted\"", "\"toy-sortd\""),
        "p.toml:7:11",
        "there is no built-in model `toy-sortd`",
    );
    refused(
        &with("draws = 3", "preset = \"txt\""),
        "p.toml:8:10",
        "`model.preset` must be one of text, appendix",
    );
    refused(&with("draws = 3", "drwas = 3"), "p.toml:8:1", "the model toy-sorted has no option `drwas`");
    refused(&with("draws = 3", "draws = 0"), "p.toml:8:9", "option draws: expected a whole number from 1 to");
    refused(
        &with("draws = 3", "draws = 2.5"),
        "p.toml:8:9",
        "option draws: expected a whole number, found 2.5",
    );
    refused(&with("builtin = \"toy-sorted\"\n", ""), "p.toml:6:2", "`model.builtin` is missing");
    let table = with("[model]\nbuiltin = \"toy-sorted\"\ndraws = 3\n", "");
    refused(&table, "p.toml:1:1", "`model` is missing");
    let top = Bench::new(&format!("{TOY}[network]\nreactions = \"\"\n"));
    top.run(&["check", "p.toml"])
        .exits(2)
        .says("unknown key `network` in the file")
        .says("hint: it belongs to the model: [model.network]");
}

#[test]
fn observed_values() {
    refused(&with("x1 = 2.5, ", ""), "p.toml:11:1", "the statistic `x1` of the model is missing");
    refused(
        &with("x1 = 2.5, x2 = 5, ", ""),
        "p.toml:11:1",
        "2 statistics of the model are missing: `x1`, `x2`",
    );
    refused(&with("x3 = 9", "x3 = 9, x4 = 1"), "p.toml:11:38", "the model has no statistic `x4`");
    refused(
        &with("x3 = 9", "x3 = nan"),
        "p.toml:11:35",
        "`observed.values.x3` must be a finite number, found NaN",
    );
    let nothing = with("values = { x1 = 2.5, x2 = 5, x3 = 9 }\n", "");
    refused(&nothing, "p.toml:10:2", "[observed] has no data");
    let both = with("x3 = 9 }", "x3 = 9 }\ntruth = { theta = 3 }");
    refused(&both, "p.toml:12:1", "[observed] has values and truth at once");
    refused(&with("x3 = 9 }", "x3 = 9 }\nseed = 3"), "p.toml:12:8", "`observed.seed` is only used with");
    let section = with("[observed]\nvalues = { x1 = 2.5, x2 = 5, x3 = 9 }\n", "");
    refused(&section, "p.toml:1:1", "`observed` is missing");
}

#[test]
fn observed_truth() {
    let truth = |truth: &str| with("values = { x1 = 2.5, x2 = 5, x3 = 9 }", truth);
    refused(
        &truth("truth = { theta = 1000 }"),
        "p.toml:11:19",
        "the truth theta = 1000 lies outside the prior",
    );
    refused(&truth("truth = { }"), "p.toml:11:1", "`observed.truth.theta` is missing");
    refused(&truth("truth = { theta = 3, k = 1 }"), "p.toml:11:22", "unknown key `k` in `observed.truth`");
    refused(
        &truth("truth = { theta = 3 }\nseed = -1"),
        "p.toml:12:8",
        "`observed.seed` must be a whole number of",
    );
    let negative = truth("truth = { theta = -3 }")
        .replace("\"log-uniform\", low = 1, high = 100", "\"normal\", mean = 0, sd = 3");
    refused(
        &negative,
        "p.toml:11:1",
        "the model cannot be simulated at the truth: simulator declined: theta must be",
    );
}

/// A table of observations has lines and columns of its own.
#[test]
fn observed_file() {
    let problem = with("values = { x1 = 2.5, x2 = 5, x3 = 9 }", "file = \"o.csv\"");
    let refused = |table: &str, place: &str, message: &str| {
        let bench = Bench::new(&problem);
        bench.write("o.csv", table);
        refused_on(&bench, &["run", "p.toml"], place, message);
    };
    refused("x1,x2,x3\n1,nan,3\n", "o.csv:2:3", "`x2` must be a finite number, found NaN");
    refused("x1,x2,x3\n1,2,three\n", "o.csv:2:5", "`x3` must be a number, found `three`");
    refused("x1,x2,x3\n1,,3\n", "o.csv:2:3", "`x2` must be a number, found ``");
    refused("x1,x2\n1,2\n", "o.csv:1:1", "the statistic `x3` of the model is missing");
    refused("dataset,x1,x2,x3\n1,1,2,3\n", "o.csv:1:1", "the model has no statistic `dataset`");
    refused("x1,x2,x3,x3\n1,2,3,4\n", "o.csv:1:10", "the statistic `x3` is given twice");
    refused("x1,x2,x3\n1,2\n", "o.csv:2:3", "the header has 3 cells and this row has 2");
    refused("x1,x2,x3\n1,2,3\n4,5,6\n", "o.csv:3:1", "expected one row below the header, found 2");
    refused("x1,x2,x3\n", "o.csv:2:1", "there is no row of numbers below the header");
    refused("", "o.csv:1:1", "the file is empty");
    refused("x1,\"x2,x3\n1,2,3\n", "o.csv:1:4", "this quote is never closed");
    refused(
        "statistic,value\nx1,1\nx2\nx3,3\n",
        "o.csv:3:1",
        "expected a statistic and a value, found 1 cells",
    );
    refused("statistic,value\nx1,1\nx2,a\nx3,3\n", "o.csv:3:4", "`x2` must be a number, found `a`");
    let bench = Bench::new(&problem);
    refused_on(&bench, &["run", "p.toml"], "p.toml:11:8", "cannot read o.csv: ");
    bench.write("o.csv", b"x1,x2,\xff\n");
    refused_on(&bench, &["run", "p.toml"], "o.csv:1:7", "this is not UTF-8");
    for good in ["x1,x2,x3\n1,2,3\n", "x3, x1 ,\"x2\"\r\n3,1,2\r\n", "statistic,value\nx3,3\nx2,2\nx1,1\n"] {
        bench.write("o.csv", good);
        bench.run(&["check", "p.toml"]).exits(0);
    }
}

#[test]
fn method() {
    refused(&with("keep = 40", "keep = 4000"), "p.toml:15:8", "cannot keep 4000 of 400 simulations");
    refused(
        &with("keep = 40", "keep = 19"),
        "p.toml:15:8",
        "this keeps 19 particles: at least 20 are needed",
    );
    refused(
        &with("keep = 40", "keep = 0.01"),
        "p.toml:15:8",
        "a share of 0.01 of 400 simulations keeps 4 particles",
    );
    refused(
        &with("keep = 40", "keep = -3"),
        "p.toml:15:8",
        "`method.keep` must be a share below 1 or a whole number",
    );
    refused(
        &with("keep = 40", "keep = 1.5"),
        "p.toml:15:8",
        "`method.keep` must be a share below 1 or a whole number",
    );
    let short = with("simulations = 400\nkeep = 40", "simulations = 100");
    refused(&short, "p.toml:14:15", "a share of 0.05 of 100 simulations keeps 5 particles");
    refused(&with("400", "39"), "p.toml:14:15", "`method.simulations` must be a whole number from 40 to");
    refused(
        &with("400", "3_000_000_000"),
        "p.toml:14:15",
        "`method.simulations` must be a whole number from 40 to",
    );
    refused(&with("400", "400.5"), "p.toml:14:15", "`method.simulations` must be a whole number from 40 to");
    refused(
        &with("generations = 2", "generations = 0"),
        "p.toml:16:15",
        "`method.generations` must be a whole number",
    );
    refused(
        &with("generations = 2", "generations = -2"),
        "p.toml:16:15",
        "`method.generations` must be a whole number",
    );
    refused(
        &with("seed = 7", "seed = -7"),
        "p.toml:17:8",
        "`method.seed` must be a whole number of at least 0, found -7",
    );
    refused(
        &with("seed = 7", "reduction = \"magic\""),
        "p.toml:17:13",
        "`method.reduction` must be one of none, semi-automatic, learned, subset, found `magic`",
    );
    refused(
        &with("seed = 7", "adjust = \"magic\""),
        "p.toml:17:10",
        "`method.adjust` must be one of none, linear, ridge, auto, found `magic`",
    );
}

#[test]
fn weighting_and_proposal() {
    let line = |text: &str| with("seed = 7", text);
    refused(
        &line("weighting = \"helinger\""),
        "p.toml:17:13",
        "`method.weighting` must be one of auto, uniform,",
    );
    refused(&line("weighting = 3"), "p.toml:17:13", "`method.weighting` must be text or a table");
    refused(
        &line("weighting = { estimator = \"paper\" }"),
        "p.toml:17:1",
        "`method.weighting.rule` is missing",
    );
    refused(
        &line("weighting = { rule = \"sd\", order = 1 }"),
        "p.toml:17:28",
        "unknown key `order` in `method.weighting`",
    );
    let hellinger = |options: &str| line(&format!("weighting = {{ rule = \"hellinger\", {options} }}"));
    refused(
        &hellinger("estimator = \"knn\""),
        "p.toml:17:47",
        "`method.weighting.estimator` must be one of entropy,",
    );
    refused(
        &hellinger("order = 1"),
        "p.toml:17:43",
        "`method.weighting.order` must be a number between 0 and 1",
    );
    refused(
        &hellinger("neighbours = 1"),
        "p.toml:17:48",
        "`method.weighting.neighbours` must be a whole number",
    );
    refused(&hellinger("neighbours = 20"), "p.toml:17:13", "20 neighbours are looked for among 20 particles");
    refused(
        &hellinger("search = \"adam\""),
        "p.toml:17:44",
        "`method.weighting.search` must be one of sparse,",
    );
    refused(
        &hellinger("evaluations = 0"),
        "p.toml:17:49",
        "`method.weighting.evaluations` must be a whole number",
    );
    refused(
        &hellinger("cross_fit = 1"),
        "p.toml:17:47",
        "`method.weighting.cross_fit` must be true or false",
    );
    refused(
        &hellinger("penalty = -1"),
        "p.toml:17:45",
        "`method.weighting.penalty` must be a number of at least 0",
    );
    refused(
        &hellinger("divergence = \"l2\", order = 0.3"),
        "p.toml:17:62",
        "`divergence` and `order` both say",
    );
    refused(
        &hellinger("estimator = \"reversed\", divergence = \"kullback-leibler\""),
        "p.toml:17:72",
        "the estimator `reversed` measures divergences of an order only",
    );
    refused(
        &line("weighting = { rule = \"paper\", exponent = \"x\" }"),
        "p.toml:17:42",
        "`method.weighting.exponent`",
    );
    refused(&line("proposal = \"gausian\""), "p.toml:17:12", "`method.proposal` must be one of gaussian,");
    refused(
        &line("proposal = { rule = \"gaussian\", sd = 0 }"),
        "p.toml:17:38",
        "`method.proposal.sd` must be a number",
    );
    refused(
        &line("proposal = { rule = \"local\", share = 2 }"),
        "p.toml:17:38",
        "`method.proposal.share` must be a share",
    );
    refused(&line("proposal = { rule = \"covariance\", sd = 1 }"), "p.toml:17:35", "unknown key `sd`");
}

#[test]
fn limits() {
    let stop = |text: &str| format!("{TOY}[stop]\n{text}\n");
    refused(&stop("simulations = 0"), "p.toml:19:15", "`stop.simulations` must be");
    refused(&stop("seconds = 0"), "p.toml:19:11", "`stop.seconds` must be a number above 0");
    refused(&stop("ess = 50"), "p.toml:19:7", "the effective sample size is at most the 40 kept");
}

#[test]
fn many_mistakes_come_at_once() {
    let problem = with("low = 1,", "low = 1000,")
        .replace("draws = 3", "drwas = 3")
        .replace("keep = 40", "keep = 4000")
        .replace("seed = 7", "sed = 7");
    let bench = Bench::new(&problem);
    for command in ["run", "check"] {
        let done = bench.run(&[command, "p.toml", "--set", "method.generations=0"]).exits(2);
        for place in ["p.toml:4:38", "p.toml:8:1", "p.toml:15:8", "p.toml:17:1", "argument --set:1:20"] {
            assert!(done.stderr.contains(&format!("--> {place}\n")), "{place}:\n{}", done.stderr);
        }
        assert_eq!(done.stderr.matches("error: ").count(), 5, "{}", done.stderr);
        done.says("5 mistakes; nothing was simulated");
    }
}

#[test]
fn arguments_are_pointed_at() {
    let bench = Bench::new(TOY);
    let set = |text: &str, place: &str, message: &str| {
        refused_on(&bench, &["run", "p.toml", "--set", text], place, message);
    };
    set(
        "method.seed=-1",
        "argument --set:1:13",
        "`method.seed` must be a whole number of at least 0, found -1",
    );
    set("method.sed=1", "argument --set:1:8", "unknown key `sed` in `method`");
    set("parameters.theta.low=1000", "argument --set:1:22", "parameter theta: low must be below high");
    set("method.weighting=uniformly", "argument --set:1:18", "`method.weighting` must be one of");
    set("method.seed", "argument --set:1:1", "--set takes key=value");
    set("observed.values.x1=nan", "argument --set:1:20", "`observed.values.x1` must be a finite number");
    let done = bench.run(&["check", "p.toml", "--set", "method.seed=5", "--set", "name=another"]).exits(0);
    assert!(done.stdout.starts_with("another: no mistakes"), "{}", done.stdout);
}
