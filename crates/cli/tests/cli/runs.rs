//! Runs: what they print and keep, and that it depends on nothing but the problem.

use std::fs;

use serde_json::Value;

use super::{Bench, TOY};

/// The problem without an adjustment, which may take more particles than are kept, or fewer.
fn as_accepted() -> String {
    TOY.replace("[method]", "[method]\nadjust = \"none\"")
}

#[test]
fn a_page_on_stdout_and_the_rest_on_stderr() {
    // A rule that weighs the statistics themselves, whatever `auto` would choose.
    let bench = Bench::new(&as_accepted().replace("[method]", "[method]\nweighting = \"hellinger\""));
    let done = bench.run(&["run", "p.toml"]).exits(0);
    let page = &done.stdout;
    assert!(page.starts_with("toy problem: 2 of 2 generations, 800 simulations, 40 kept\n"), "{page}");
    for piece in [
        "parameter",
        "90 % interval",
        "theta",
        "│",
        "100 (log scale)",
        "weight",
        "x1",
        "█",
        "held out",
        "in sample",
    ] {
        assert!(page.contains(piece), "{piece}:\n{page}");
    }
    for rule in ["uniform", "sd", "mad", "informed"] {
        assert!(page.contains(&format!("by the rule {rule}")), "{page}");
    }
    for piece in ["ESS", "failed", "simulating", "weighing", "kept in runs/toy-problem"] {
        assert!(page.contains(piece), "{piece}:\n{page}");
    }
    assert!(!page.contains("generation 0 (1 of 2)") && !page.contains('\u{1b}'), "{page}");
    assert!(!done.stderr.contains('\u{1b}'), "{}", done.stderr);
    done.says("generation 0 (1 of 2): 40 kept").says("generation 1 (2 of 2): 40 kept");
    assert_eq!(bench.run(&["run", "p.toml", "--quiet", "--into", "q"]).exits(0).stderr, "");
}

#[test]
fn json_is_one_object_with_every_key_of_the_contract() {
    let bench = Bench::new(&as_accepted());
    let done = bench.run(&["run", "p.toml", "--json"]).exits(0);
    let run = done.json();
    let expected = [
        ("problem", Value::from("toy problem")),
        ("directory", "runs/toy-problem".into()),
        ("finished", true.into()),
        ("stopped_by", "generations".into()),
        ("seed", 7.into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("simulations", 800.into()),
        ("failed", 0.into()),
        ("generations", 2.into()),
        ("kept", 40.into()),
    ];
    for (key, value) in expected {
        assert_eq!(run[key], value, "{key}");
    }
    assert!(run["ess"].as_f64().unwrap() > 1.0);
    let theta = &run["parameters"]["theta"];
    for key in ["mean", "sd", "median", "mode", "q05", "q25", "q75", "q95", "log10_mean", "log10_sd"] {
        assert!(theta[key].is_f64(), "{key}: {theta}");
    }
    assert_eq!(
        run["distance_weights"].as_object().unwrap().keys().take(3).collect::<Vec<_>>(),
        ["x1", "x2", "x3"]
    );
    for key in ["in_sample", "held_out"] {
        assert!(run["information"][key].is_f64());
    }
    for rule in ["uniform", "sd", "mad"] {
        assert!(run["information"]["baselines"][rule].is_f64());
    }
    for key in ["total", "simulate", "weigh"] {
        assert!(run["seconds"][key].is_f64());
    }
    let history = run["history"].as_array().unwrap();
    assert_eq!(history.len(), 2);
    for key in ["generation", "simulations", "failed", "kept", "ess", "threshold"] {
        assert!(history[1][key].is_number(), "{key}");
    }
    assert!(history[1]["information"]["held_out"].is_f64());
    assert!(run["warnings"].is_array());
    let stored: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("runs/toy-problem/run.json")).unwrap()).unwrap();
    assert_eq!(stored["summary"], run);
    assert_eq!(stored["run"]["method"]["keep"], 40);
    assert_eq!(stored["run"]["observed"]["x3"], 9.0);
}

#[test]
fn the_posterior_does_not_depend_on_threads_or_chunks() {
    let problem = TOY.replace("simulations = 400", "simulations = 1500");
    let bench = Bench::new(&problem);
    let posterior = |threads: &str, chunk: &str| {
        let into = format!("t{threads}c{chunk}");
        bench.run(&["run", "p.toml", "--into", &into, "--threads", threads, "--chunk", chunk]).exits(0);
        fs::read(bench.path(&into).join("posterior.parquet")).unwrap()
    };
    let first = posterior("1", "1000");
    assert!(first.len() > 1_000);
    for (threads, chunk) in [("1", "1"), ("1", "7"), ("2", "1"), ("2", "7"), ("2", "1000")] {
        assert!(posterior(threads, chunk) == first, "{threads} threads, chunks of {chunk}");
    }
}

#[test]
fn a_finished_run_is_printed_again_and_another_is_refused() {
    let bench = Bench::new(TOY);
    let first = bench.run(&["run", "p.toml"]).exits(0);
    let before = fs::read(bench.path("runs/toy-problem/run.json")).unwrap();
    let again = bench.run(&["run", "p.toml", "--threads", "1"]).exits(0).says("already finished");
    assert_eq!(again.stdout, first.stdout);
    let shown = bench.run(&["show", "runs/toy-problem"]).exits(0);
    assert_eq!((shown.stdout, shown.stderr), (first.stdout, String::new()));
    let other = bench.run(&["run", "p.toml", "--set", "method.seed=8"]).exits(2);
    other.says("holds another run: seed was 7 and is now 8").says("hint: use --into with another directory");
    let more = bench.run(&["run", "p.toml", "--set", "parameters.theta.high=90"]).exits(2);
    more.says("parameters.theta.high was 100.0 and is now 90.0");
    assert_eq!(fs::read(bench.path("runs/toy-problem/run.json")).unwrap(), before);
    bench.run(&["run", "p.toml", "--set", "method.seed=8", "--into", "other"]).exits(0);
}

#[test]
fn show_tells_where_a_moved_run_is() {
    let bench = Bench::new(TOY);
    let run = bench.run(&["run", "p.toml", "--into", "old", "--json"]).exits(0).json();
    assert_eq!(bench.run(&["show", "old", "--json"]).exits(0).json(), run);
    fs::rename(bench.path("old"), bench.path("new")).unwrap();
    let mut moved = bench.run(&["show", "new", "--json"]).exits(0).json();
    assert_eq!(moved["directory"], "new");
    moved["directory"] = "old".into();
    assert_eq!(moved, run);
}

#[test]
fn limits_end_a_run() {
    let bench = Bench::new(TOY);
    let budget = bench
        .run(&["run", "p.toml", "--set", "stop.simulations=500", "--json", "--into", "b"])
        .exits(3)
        .json();
    assert_eq!((&budget["finished"], &budget["stopped_by"]), (&false.into(), &"simulations".into()));
    assert_eq!((&budget["generations"], &budget["simulations"]), (&1.into(), &500.into()));
    let floor = bench.run(&[
        "run",
        "p.toml",
        "--set",
        "stop.ess=40",
        "--set",
        "method.generations=50",
        "--json",
        "--into",
        "e",
    ]);
    assert_eq!(floor.exits(0).json()["stopped_by"], "ess");
    let arguments = [
        "run",
        "p.toml",
        "--set",
        "stop.seconds=0.5",
        "--set",
        "method.generations=9000",
        "--json",
        "--into",
        "s",
    ];
    let time = bench.run(&arguments).exits(3).says("stopped at the limit of seconds");
    let run = time.json();
    assert_eq!((&run["finished"], &run["stopped_by"]), (&false.into(), &"seconds".into()));
    assert_eq!(bench.run(&["show", "s", "--json"]).exits(0).json(), run);
    assert!(bench.path("s/posterior.parquet").exists());
    let over = [
        "run",
        "p.toml",
        "--set",
        "stop.seconds=1e-9",
        "--set",
        "method.generations=9000",
        "--json",
        "--into",
        "s",
    ];
    let over = bench.run(&over).exits(3).json();
    assert_eq!(over["generations"], run["generations"], "what is committed stays");
}

/// A model that declines negative parameters, under a prior that is all negative.
#[test]
fn a_run_whose_simulations_fail_says_how_to_repeat_one() {
    let problem =
        TOY.replace("law = \"log-uniform\", low = 1, high = 100", "law = \"normal\", mean = -9, sd = 1");
    let bench = Bench::new(&problem);
    let done = bench.run(&["run", "p.toml", "--json"]).exits(1);
    assert_eq!(done.stdout, "");
    let done = done
        .says("error: the run cannot go on")
        .says("400 of 400 simulations failed")
        .says("simulator declined");
    let command =
        done.stderr.split("this repeats the example: counterpoise ").nth(1).unwrap().lines().next().unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[..2], ["simulate", "p.toml"]);
    bench.run(&words).exits(1).says("1 of 1 simulations failed").says("simulator declined: theta must be");
    let checked = bench.run(&["check", "p.toml"]).exits(1).stdout;
    assert!(checked.contains("20 of them failed; for example at theta = -"), "{checked}");
    bench.run(&["run", "p.toml"]).exits(1).says("400 of 400 simulations failed");
}

#[test]
fn failures_are_counted_and_warned_about() {
    let problem =
        TOY.replace("law = \"log-uniform\", low = 1, high = 100", "law = \"normal\", mean = 5, sd = 5");
    let bench = Bench::new(&problem);
    let run = bench.run(&["run", "p.toml", "--json"]).exits(0).json();
    assert!(run["failed"].as_u64().unwrap() > 10);
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("simulations failed"), "{warnings}");
    assert!(bench.run(&["show", "runs/toy-problem"]).stdout.contains("warning: "));
}

#[test]
fn every_rule_search_and_proposal_runs() {
    let problem = TOY.replace("simulations = 400", "simulations = 4000").replace("keep = 40", "keep = 200");
    let bench = Bench::new(&problem);
    let hellinger =
        |options: &str| format!("method.weighting={{rule=\"hellinger\",evaluations=30,{options}}}");
    let mut settings: Vec<String> = ["auto", "uniform", "sd", "mad", "informed", "paper"]
        .map(|rule| format!("method.weighting={rule}"))
        .to_vec();
    settings.extend(["entropy", "paper", "reversed"].map(|name| hellinger(&format!("estimator=\"{name}\""))));
    settings.extend(
        ["hellinger", "kullback-leibler", "l2"].map(|name| hellinger(&format!("divergence=\"{name}\""))),
    );
    settings.extend(
        ["sparse", "cma-es", "random", "nelder-mead", "coordinate"]
            .map(|name| hellinger(&format!("search=\"{name}\""))),
    );
    settings.extend(["cross_fit=false", "order=0.3", "neighbours=3", "penalty=0"].map(hellinger));
    settings.extend(["gaussian", "covariance", "local"].map(|rule| format!("method.proposal={rule}")));
    settings.push("method.proposal={rule=\"gaussian\",sd=0.5}".into());
    settings.push(
        "method.weighting={rule=\"paper\",exponent=\"printed\",starts=20,neighbours=4,order=0.4}".into(),
    );
    for (index, setting) in settings.iter().enumerate() {
        let into = format!("r{index}");
        let run = bench.run(&["run", "p.toml", "--json", "--into", &into, "--set", setting]).exits(0).json();
        let theta = |key: &str| run["parameters"]["theta"][key].as_f64().unwrap();
        // The exact posterior is as theta to the power -4 above 9: its mean is 13.4 and its 5 % quantile 9.16, where
        // the prior has 21.5 and 1.26. Both have long tails, which move the mean of 200 particles by several units.
        assert!(theta("mean") > 9.0 && theta("mean") < 25.0, "{setting}: {run}");
        assert!(theta("q05") > 5.0 && theta("q05") < 10.0, "{setting}: {run}");
    }
}

/// `auto` is the default, names everything it chooses, and says what spoke for it; what it chose can be pinned.
#[test]
fn auto_says_what_it_chose_and_its_parts_can_be_pinned() {
    let problem = TOY.replace("simulations = 400", "simulations = 1000").replace("keep = 40", "keep = 200");
    let bench = Bench::new(&problem);
    let posterior = |into: &str, settings: &[&str]| {
        let mut words = vec!["run", "p.toml", "--into", into, "--json"];
        words.extend(settings.iter().flat_map(|setting| ["--set", *setting]));
        let run = bench.run(&words).exits(0).json();
        (fs::read(bench.path(into).join("posterior.parquet")).unwrap(), run)
    };
    let (auto, run) = posterior("a", &[]);
    assert!(auto == posterior("b", &["method.weighting=auto"]).0);
    let whole = [
        "method.weighting=auto",
        "method.reduction={ rule = \"learned\", raw = true }",
        "method.adjust=auto",
        "method.proposal=adaptive",
    ];
    assert!(auto == posterior("c", &whole).0);
    let (plain, searched) = posterior("d", &["method.reduction=none"]);
    assert!(auto != plain, "the learned features show");
    let searched = searched["evidence"].as_array().unwrap();
    assert!(
        searched.iter().any(|way| way["name"] == "hellinger"),
        "without them there is a search: {searched:?}"
    );
    let evidence = run["evidence"].as_array().unwrap();
    for subject in ["rule", "adjustment"] {
        let of = evidence.iter().filter(|way| way["subject"] == subject);
        assert!(of.clone().count() > 2, "{evidence:?}");
        assert_eq!(of.filter(|way| way["chosen"] == true).count(), 1, "{evidence:?}");
    }
    for name in ["learned", "uniform", "sd", "mad", "informed"] {
        assert!(evidence.iter().any(|way| way["name"] == name), "{name}: {evidence:?}");
    }
    bench.run(&["check", "p.toml", "--set", "method.keep=20"]).exits(0);
}

/// A budget alone leaves the size of the run to `auto`, which never makes more.
#[test]
fn a_budget_alone_is_spent_and_not_exceeded() {
    let problem = TOY.replace("simulations = 400\n", "").replace("keep = 40\n", "");
    let problem = problem.replace("generations = 2\n", "") + "\n[stop]\nsimulations = 3001\n";
    let bench = Bench::new(&problem);
    let run = bench.run(&["run", "p.toml", "--json"]).exits(0).json();
    assert_eq!((&run["simulations"], &run["generations"]), (&3000.into(), &5.into()));
    assert_eq!(run["finished"], true);
}

/// A preset that is written is an experiment of the paper; one that is not lends its model's options only.
#[test]
fn a_written_preset_brings_the_numbers_of_the_paper() {
    let method = |more: &[&str]| {
        let bench = Bench::new(
            "[model]\nbuiltin = \"death\"\n[observed]\ntruth = { k = 0.1, sigma = 0.01 }\n\
             [method]\nweighting = \"uniform\"\n[stop]\nseconds = 1e-9\n",
        );
        let sets = more.iter().flat_map(|set| ["--set", set]);
        bench.run(&["run", "p.toml", "--into", "r"].into_iter().chain(sets).collect::<Vec<_>>()).exits(3);
        let run: Value =
            serde_json::from_str(&fs::read_to_string(bench.path("r/run.json")).unwrap()).unwrap();
        let method = &run["run"]["method"];
        let key = |key: &str| method[key].as_u64().unwrap();
        (key("simulations"), key("keep"), key("generations"), method["proposal"].to_string())
    };
    let gaussian = || "{\"rule\":\"gaussian\",\"sd\":0.25}".to_owned();
    let covariance = "{\"rule\":\"covariance\"}".to_owned();
    assert_eq!(method(&[]), (5_000, 250, 5, covariance.clone()));
    assert_eq!(method(&["model.preset=text"]), (50_000, 2_500, 5, gaussian()));
    assert_eq!(method(&["model.preset=appendix"]), (500_000, 2_500, 5, gaussian()));
    let some = ["model.preset=text", "method.simulations=1000", "method.generations=2"];
    assert_eq!(method(&some), (1_000, 50, 2, gaussian()), "the share is the paper's, the rest is the file's");
    let other = ["model.preset=text", "method.keep=30", "method.proposal=covariance"];
    assert_eq!(method(&other), (50_000, 30, 5, covariance));
}

#[test]
fn parameters_keep_the_order_of_the_file() {
    let problem = "[parameters]\nsigma = { law = \"log-uniform\", low = 1e-3, high = 1e3 }\n\
                   k = { law = \"log-uniform\", low = 1e-3, high = 1e3 }\n[model]\nbuiltin = \"death\"\n\
                   [observed]\ntruth = { k = 0.1, sigma = 0.01 }\n[method]\nsimulations = 500\ngenerations = 1\n";
    let bench = Bench::new(problem);
    let run = bench.run(&["run", "p.toml", "--json"]).exits(0).json();
    assert_eq!(run["problem"], "p", "a problem without a name is called after its file");
    assert_eq!(run["parameters"].as_object().unwrap().keys().collect::<Vec<_>>(), ["sigma", "k"]);
    let (k, sigma) = (&run["parameters"]["k"]["median"], &run["parameters"]["sigma"]["median"]);
    assert!(
        k.as_f64().unwrap() < 2.0,
        "k has the posterior of a rate near 0.1, found {k} beside sigma = {sigma}"
    );
}

#[test]
fn check_tells_what_a_run_will_be_like() {
    let bench = Bench::new("[model]\nbuiltin = \"death\"\n[observed]\ntruth = { k = 2, sigma = 1 }\n");
    let done = bench.run(&["check", "p.toml"]).exits(0);
    for piece in
        ["no mistakes", "20 draws from the prior", "none failed", "constant statistics: A@0", "takes about"]
    {
        assert!(done.stdout.contains(piece), "{piece}:\n{}", done.stdout);
    }
    assert!(!bench.path("runs").exists());
    let report = bench.run(&["check", "p.toml", "--json"]).exits(0).json();
    assert!(report["estimate"]["total"].as_f64().unwrap() > 0.0);
    assert_eq!(report["constant"], serde_json::json!(["A@0"]));
}
