//! `reproduce`: the figures and tables of the paper, at sizes that take a moment.

use std::fs;

use super::program;

fn lines(folder: &tempfile::TempDir, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.path().join(file)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// The values of a column, by its name.
fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let at = rows[0].iter().position(|column| column == name).unwrap();
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

#[test]
fn the_objective_is_piecewise_constant() {
    let here = tempfile::tempdir().unwrap();
    let run = program(here.path(), &["reproduce", "figure-1", "--quick", "--simulations", "4000"]).exits(0);
    assert!(run.stdout.starts_with("## figure-1 (preset text, quick, seed 1)"), "{}", run.stdout);
    assert!(!run.stdout.contains("NOT constant"), "{}", run.stdout);
    let rows = lines(&here, "reproduction/figure-1.csv");
    let number = |text: &String| text.parse::<f64>().unwrap();
    let values: Vec<f64> = column(&rows, "L").iter().map(number).collect();
    let changed: Vec<f64> = rows[1..].iter().map(|row| number(&row[3])).collect();
    assert_eq!(values.len(), 2 * 1001);
    for at in 1..1001 {
        assert!(changed[at] > 0.0 || values[at] == values[at - 1], "row {at}");
    }
    assert!(changed[..1001].iter().any(|&changed| changed > 0.0), "a line on which nothing ever changes");
    assert!(fs::read_to_string(here.path().join("reproduction/figure-1.svg")).unwrap().starts_with("<svg"));
    program(here.path(), &["reproduce", "figure-1", "--quick"]).exits(2).says("exists already");
}

#[test]
fn posteriors_are_drawn_beside_the_exact_ones_whatever_the_threads() {
    let here = tempfile::tempdir().unwrap();
    let run = |into: &str, threads: &str| {
        let arguments = ["reproduce", "figure-3", "--quick", "--simulations", "1000", "--into", into];
        program(here.path(), &[&arguments[..], &["--datasets", "3", "--threads", threads]].concat()).exits(0)
    };
    // One thread makes the datasets one after another, four make each of the three on four threads.
    assert_eq!(run("a", "1").stdout, run("b", "4").stdout);
    for file in ["figure-3.svg", "figure-3.csv", "figure-3-summary.csv"] {
        let read = |into: &str| fs::read_to_string(here.path().join(into).join(file)).unwrap();
        assert_eq!(read("a"), read("b"), "{file}");
    }
    let series = column(&lines(&here, "a/figure-3.csv"), "series");
    for wanted in ["exact", "uniform", "scaled", "adaptive", "hellinger"] {
        assert!(series.iter().any(|found| found == wanted), "{wanted}");
    }
    let summary = lines(&here, "a/figure-3-summary.csv");
    // The exact posteriors of the death process have 0.78 or so.
    let ceiling: f64 = column(&summary, "exact")[0].parse().unwrap();
    assert!((0.72..0.84).contains(&ceiling), "{ceiling}");
}

#[test]
fn tables_are_printed_beside_those_of_the_paper() {
    let here = tempfile::tempdir().unwrap();
    for item in ["table-1", "table-2"] {
        let arguments =
            ["reproduce", item, "--quick", "--simulations", "1000", "--problems", "toy-sorted,diffusion"];
        let text = program(here.path(), &arguments).exits(0).stdout;
        assert!(text.contains("| diffusion | 0.7") && text.contains(" ± "), "{text}");
        let rows = lines(&here, &format!("reproduction/{item}.csv"));
        let problems = column(&rows, "problem");
        assert!(
            problems.iter().any(|name| name == "diffusion") && !problems.iter().any(|name| name == "death")
        );
        let drawn = fs::read_to_string(here.path().join(format!("reproduction/{item}.svg"))).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.contains("diffusion: Hellinger distance"));
        // A size is told where it tells rules apart.
        assert_eq!(drawn.contains("uniform, 1000"), item == "table-1");
    }
    program(here.path(), &["reproduce", "figure-9"]).exits(2).says("figure-1");
}

#[test]
fn the_times_of_table_1_are_measured() {
    let here = tempfile::tempdir().unwrap();
    let arguments =
        ["reproduce", "table-1", "--measure", "--quick", "--simulations", "1000", "--problems", "toy-sorted"];
    let text = program(here.path(), &arguments).exits(0).stdout;
    assert!(text.contains("| toy-sorted | 5 x 1000 |"), "{text}");
    let rows = lines(&here, "reproduction/table-1-times.csv");
    let factor: f64 = column(&rows, "factor")[0].parse().unwrap();
    // 300 evaluations against none: on any machine more than as much again, and no thousandfold.
    assert!((1.0..1000.0).contains(&factor), "{factor}");
    assert!(!here.path().join("reproduction/table-1.csv").exists());
}

#[test]
fn weights_of_repeated_runs_are_centred() {
    let here = tempfile::tempdir().unwrap();
    let arguments = ["reproduce", "figure-6", "--quick", "--datasets", "2", "--simulations", "1000"];
    program(here.path(), &[&arguments[..], &["--preset", "appendix"]].concat()).exits(0);
    let text = fs::read_to_string(here.path().join("reproduction/figure-6.csv")).unwrap();
    let mut sums = std::collections::BTreeMap::new();
    for line in text.lines().skip(1).filter(|line| !line.ends_with(',')) {
        let cells: Vec<&str> = line.split(',').collect();
        *sums.entry(cells[..3].join(",")).or_insert(0.0) += cells[5].parse::<f64>().unwrap();
    }
    // Two problems, two rules, two runs; the toy of the appendix has 32 statistics.
    assert_eq!(sums.len(), 8);
    assert!(sums.values().all(|sum: &f64| sum.abs() < 1e-9), "{sums:?}");
    assert!(text.contains("x32"));
}

/// A standard error takes two datasets; what an item would not heed is refused before anything is made.
#[test]
fn arguments_that_do_not_fit_the_item_are_refused() {
    let here = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], message: &str| {
        program(here.path(), &[&["reproduce"], arguments].concat()).exits(2).says(message);
    };
    for item in ["figure-2", "figure-6", "table-1", "table-2", "all"] {
        refused(&[item, "--quick", "--datasets", "1"], "1 is not in 2..");
    }
    refused(&["table-1", "--measure", "--quick", "--datasets", "1"], "1 is not in 2..");
    refused(&["figure-1", "--quick", "--datasets", "3"], "figure-1 is made of one dataset");
    refused(&["figure-3", "--quick", "--problems", "toy"], "--problems belongs to the tables");
    refused(&["table-2", "--measure"], "--measure belongs to table-1");
    assert!(!here.path().join("reproduction").exists());
}
