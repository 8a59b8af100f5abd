//! What a problem file may say, and that a mistake in it costs nothing. The texts of mistakes are in `tests/errors`.

use super::{Bench, TOY};

/// The toy problem with one piece replaced.
#[track_caller]
fn with(piece: &str, by: &str) -> String {
    assert!(TOY.contains(piece), "{piece}");
    TOY.replace(piece, by)
}

#[test]
fn nothing_is_made_by_a_problem_with_a_mistake() {
    let bench = Bench::new(&with("seed = 7", "sed = 7"));
    for command in [&["run"][..], &["check"], &["simulate", "--rows", "1"], &["compare"], &["calibrate"]] {
        let done = bench.run(&[command, &["p.toml"]].concat()).exits(2).says("unknown key `sed`");
        assert!(done.stdout.is_empty(), "{}", done.stdout);
    }
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 1, "something was made");
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

/// In any order, with blanks, quotes and the ends of lines of another system, or one below the other.
#[test]
fn every_way_to_write_data_is_understood() {
    let bench = Bench::new(&with("values = { x1 = 2.5, x2 = 5, x3 = 9 }", "file = \"o.csv\""));
    for good in ["x1,x2,x3\n1,2,3\n", "x3, x1 ,\"x2\"\r\n3,1,2\r\n", "statistic,value\nx3,3\nx2,2\nx1,1\n"] {
        bench.write("o.csv", good);
        bench.run(&["check", "p.toml"]).exits(0);
    }
}

#[test]
fn arguments_change_the_file() {
    let bench = Bench::new(TOY);
    let done = bench.run(&["check", "p.toml", "--set", "method.seed=5", "--set", "name=another"]).exits(0);
    assert!(done.stdout.starts_with("another: no mistakes"), "{}", done.stdout);
}
