//! `compare` beside exact posteriors, on data of files.

use std::fs;
use std::path::PathBuf;

use super::{Bench, Done};

const TOY: &str = r#"
[parameters]
theta = { law = "log-uniform", low = 1, high = 100 }

[model]
builtin = "toy-sorted"
draws = 10

[observed]
file = "one.csv"

[method]
simulations = 2000
keep = 100
generations = 1
seed = 7
"#;

fn reference(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/toy-sorted").join(name);
    path.to_str().unwrap().to_owned()
}

fn bench() -> Bench {
    let bench = Bench::new(TOY);
    let observed = fs::read_to_string(reference("observed.csv")).unwrap();
    let line = |text: &str| text.split_once(',').unwrap().1.to_owned();
    let mut lines = observed.lines();
    let (header, first) = (line(lines.next().unwrap()), line(lines.next().unwrap()));
    bench.write("one.csv", format!("{header}\n{first}\n"));
    bench
}

fn compare(bench: &Bench, arguments: &[&str]) -> Done {
    bench.run(&[&["compare", "p.toml", "--rules", "sd,informed"], arguments].concat())
}

#[test]
fn the_reference_posteriors_tell_the_better_rule() {
    let bench = bench();
    let given = [&reference("observed.csv"), &reference("truth.csv"), &reference("posterior.parquet")];
    let arguments = ["--observed", given[0], "--truths", given[1], "--exact", given[2]];
    let run = |threads: &str| {
        let arguments = [&arguments[..], &["--json", "--threads", threads]].concat();
        let mut found = compare(&bench, &arguments).exits(0).json();
        for rule in found["rules"].as_array_mut().unwrap() {
            rule.as_object_mut().unwrap().remove("seconds");
        }
        found
    };
    let found = run("1");
    assert_eq!(found, run("2"));
    assert_eq!((&found["datasets"], &found["truth"]), (&10.into(), &"file".into()));
    // The closed form gives 0.7053 for these posteriors.
    let ceiling = found["exact_information"]["mean"].as_f64().unwrap();
    assert!((ceiling - 0.7053).abs() < 0.02, "{ceiling}");
    let [sd, informed] = [0, 1].map(|at| found["rules"][at].clone());
    let w1 = |near: &serde_json::Value| near["w1_in_sd"]["mean"].as_f64().unwrap();
    assert!(w1(&sd) > 2.0 * w1(&informed), "{found}");
    assert!(sd["energy_distance"]["mean"].as_f64() > informed["energy_distance"]["mean"].as_f64());
    assert_eq!(informed["nearest_on"], 10);
    // Raw and scaled are the same distance: the exact sd in log10 is about 0.043.
    let parameter = &sd["parameters"][0];
    assert_eq!((&parameter["name"], &parameter["scale"]), (&"theta".into(), &"log10".into()));
    let ratio = parameter["w1"]["mean"].as_f64().unwrap() / parameter["w1_in_sd"]["mean"].as_f64().unwrap();
    assert!((ratio - 0.043).abs() < 0.006, "{ratio}");
    assert!(found["rules"][0]["mean_bias"]["mean"].as_f64().unwrap() > 0.0);
    let page = compare(&bench, &[&arguments[..], &["--plot", "c.png"]].concat()).exits(0).stdout;
    assert!(fs::read(bench.path("c.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(page.contains("W1 of log10 theta") && page.contains("nearest on"), "{page}");
}

#[test]
fn a_posterior_is_at_no_distance_from_itself() {
    let bench = bench();
    let rule = ["--set", "method.weighting=informed"];
    bench.run(&[&["run", "p.toml", "--into", "r", "--set", "method.seed=8"], &rule[..]].concat()).exits(0);
    let arguments = ["--exact", "r/posterior.parquet", "--datasets", "2", "--json"];
    let found = compare(&bench, &arguments).exits(0).json();
    assert_eq!(found["truth"], "own");
    let near = &found["rules"][1];
    let w1 = |at: usize| near["w1_of_datasets"][at].as_f64().unwrap();
    assert!(w1(0) < 1e-9 && w1(1) > 1e-3, "the first run has the seed 8, the second 9: {near}");
    assert!(found["rules"][0].get("mean_bias").is_none(), "the truth is not known: {found}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let bench = bench();
    let (observed, exact) = (reference("observed.csv"), reference("posterior.parquet"));
    let refused = |arguments: &[&str], message: &str| {
        compare(&bench, arguments).exits(2).says(message);
    };
    refused(&["--exact", &exact], "has posteriors of 10 datasets");
    refused(&["--exact", "none.csv"], "none.csv");
    refused(&["--truths", "t.csv"], "--observed");
    refused(&["--plot", "c.pdf"], "c.pdf is neither an .svg nor a .png file");
    refused(&["--plot", "none/c.svg"], "none is no directory");
    let given = |name: &str, text: &str, option: &str, message: &str| {
        bench.write(name, text);
        refused(&["--observed", &observed, option, name], message);
    };
    let draws = |header: &str, row: &str| format!("{header}\n{}", format!("{row}\n").repeat(30));
    given("a.csv", &draws("dataset,log10_k", "1,1"), "--exact", "there is no column `theta`");
    given("b.csv", &draws("dataset,theta,k", "1,9,1"), "--exact", "`k` is no parameter of the problem");
    given("c.csv", &draws("theta", "9"), "--exact", "are the same");
    let varied: String = (0..40).map(|i| format!("{}\n", 9.0 + f64::from(i))).collect();
    given("d.csv", &format!("theta\n{varied}"), "--exact", "there is no column `dataset`");
    let second: String = (0..40).map(|i| format!("2,{}\n", 9.0 + f64::from(i))).collect();
    let text = format!("dataset,theta\n{second}");
    given("e.csv", &text, "--exact", "--exact has nothing for dataset 1, 3, 4, 5, 6 and 4 more");
    given(
        "f.csv",
        &text.replace("2,9\n", "2,900\n"),
        "--exact",
        "theta = 900 in row 1 lies outside the prior",
    );
    given("g.csv", &text.replace("2,9\n", "2,\n"), "--exact", "the value of `theta` in row 1 is missing");
    given("h.csv", &text.replace("2,9\n", "2.5,9\n"), "--exact", "no whole number");
    given("i.csv", &draws("dataset,theta", "1,9")[..38], "--exact", "at least 20 are needed");
    let truths: String = (1..=11).map(|number| format!("{number},1\n")).collect();
    given(
        "j.csv",
        &format!("dataset,log10_theta\n{truths}"),
        "--truths",
        "--observed has nothing for dataset 11 of --truths",
    );
    given("k.csv", "log10_theta\n7\n", "--truths", "lies outside the prior");
    given("l.csv", "dataset,theta\n1,9\n1,9\n", "--truths", "two rows of dataset 1");
    bench.write("m.csv", fs::read_to_string(bench.path("one.csv")).unwrap());
    refused(&["--observed", "m.csv"], "1 dataset: at least two are compared");
    bench.write("n.csv", "x1,x2\n1,2\n3,4\n");
    refused(&["--observed", "n.csv"], "there is no column `x3`, a statistic of the model");
}
