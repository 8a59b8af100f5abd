//! Tables of simulations.

use std::fs;

use super::{Bench, TOY};

fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn csv_on_stdout_and_in_a_file() {
    let bench = Bench::new(TOY);
    let done = bench.run(&["simulate", "p.toml", "--rows", "50"]).exits(0);
    let table = rows(&done.stdout);
    assert_eq!(table[0], ["theta", "x1", "x2", "x3"]);
    assert_eq!(table.len(), 51);
    for row in &table[1..] {
        let numbers: Vec<f64> = row.iter().map(|cell| cell.parse().unwrap()).collect();
        assert!(numbers[1] <= numbers[2] && numbers[2] <= numbers[3] && numbers[3] <= numbers[0], "{row:?}");
    }
    assert_eq!(done.stderr, "");
    let file = bench.run(&[
        "simulate",
        "p.toml",
        "--rows",
        "50",
        "--out",
        "s.csv",
        "--threads",
        "2",
        "--chunk",
        "3",
    ]);
    file.exits(0).says("50 rows written to s.csv");
    assert_eq!(fs::read_to_string(bench.path("s.csv")).unwrap(), done.stdout);
}

#[test]
fn files_are_not_overwritten_unless_asked() {
    let bench = Bench::new(TOY);
    bench.write("s.csv", "precious");
    let arguments = ["simulate", "p.toml", "--rows", "5", "--out", "s.csv"];
    bench.run(&arguments).exits(2).says("s.csv exists already").says("--force");
    assert_eq!(fs::read_to_string(bench.path("s.csv")).unwrap(), "precious");
    bench.run(&[&arguments[..], &["--force", "-q"]].concat()).exits(0);
    assert_eq!(rows(&fs::read_to_string(bench.path("s.csv")).unwrap()).len(), 6);
    bench
        .run(&["simulate", "p.toml", "--rows", "5", "--out", "s.xls"])
        .exits(2)
        .says("name it .csv, .csv.gz or .parquet");
}

#[test]
fn parquet_holds_the_same_numbers() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let bench = Bench::new(TOY);
    bench.run(&["simulate", "p.toml", "--rows", "30", "--out", "s.parquet"]).exits(0);
    let csv = bench.run(&["simulate", "p.toml", "--rows", "30"]).exits(0).stdout;
    let reader = SerializedFileReader::new(fs::File::open(bench.path("s.parquet")).unwrap()).unwrap();
    let read: Vec<Vec<(String, f64)>> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let cells = row.unwrap().into_columns();
            cells.into_iter().map(|(name, cell)| (name, cell.to_string().parse().unwrap())).collect()
        })
        .collect();
    let table = rows(&csv);
    assert_eq!(read.len(), 30);
    for (row, expected) in read.iter().zip(&table[1..]) {
        for ((name, value), (header, cell)) in row.iter().zip(table[0].iter().zip(expected)) {
            assert_eq!(name, header);
            assert!((value - cell.parse::<f64>().unwrap()).abs() < 1e-12, "{name}: {value} is not {cell}");
        }
    }
}

#[test]
fn the_seed_and_the_point() {
    let bench = Bench::new(TOY);
    let run =
        |more: &[&str]| bench.run(&[&["simulate", "p.toml", "--rows", "4"], more].concat()).exits(0).stdout;
    assert_eq!(run(&["--seed", "7"]), run(&[]));
    assert_eq!(run(&["--seed", "8"]), run(&["--set", "method.seed=8"]));
    assert_ne!(run(&["--seed", "8"]), run(&[]));
    let here = run(&["--at", "theta=10"]);
    assert!(rows(&here)[1..].iter().all(|row| row[0] == "10"), "{here}");
    let at = |at: &str, message: &str| {
        bench.run(&["simulate", "p.toml", "--rows", "1", "--at", at]).exits(2).says(message);
    };
    at("thta=3", "there is no parameter `thta`");
    at("theta", "expected name=value, found `theta`");
    at("theta=x", "theta must be a finite number, found `x`");
    at("theta=nan", "theta must be a finite number");
    at("theta=1,theta=2", "theta is given twice");
    at("", "expected name=value");
}

/// Rows beyond the first block have the parameters and random numbers of their places in the whole table.
#[test]
fn blocks_do_not_show() {
    let bench = Bench::new(TOY);
    let table = bench.run(&["simulate", "p.toml", "--rows", "65540", "--threads", "2"]).exits(0).stdout;
    let table = rows(&table);
    assert_eq!(table.len(), 65_541);
    for row in [65_535, 65_536, 65_539] {
        let (at, number) = (format!("theta={}", table[row + 1][0]), row.to_string());
        let again = bench.run(&["simulate", "p.toml", "--at", &at, "--row", &number]).exits(0).stdout;
        assert_eq!(rows(&again)[1], table[row + 1]);
    }
    let all: std::collections::BTreeSet<&str> = table[1..].iter().map(|row| row[0]).collect();
    assert_eq!(all.len(), 65_540, "no parameter is drawn twice");
}

/// A row of a run's table is simulated again from its address.
#[test]
fn one_row_can_be_repeated() {
    let bench = Bench::new(TOY);
    let table = bench.run(&["simulate", "p.toml", "--rows", "9"]).exits(0).stdout;
    let table = rows(&table);
    let at = format!("theta={}", table[6][0]);
    let again = bench.run(&["simulate", "p.toml", "--at", &at, "--row", "5"]).exits(0).stdout;
    assert_eq!(rows(&again)[1], table[6]);
    bench.run(&["simulate", "p.toml", "--row", "5"]).exits(2).says("--at");
}

#[test]
fn failed_rows_are_empty_and_counted() {
    let problem =
        TOY.replace("law = \"log-uniform\", low = 1, high = 100", "law = \"normal\", mean = 0, sd = 1");
    let bench = Bench::new(&problem);
    let done = bench
        .run(&["simulate", "p.toml", "--rows", "40"])
        .exits(0)
        .says("of 40 simulations failed; for example");
    let failed = rows(&done.stdout)[1..].iter().filter(|row| row[1..] == ["", "", ""]).count();
    assert!(failed > 5 && failed < 35);
    done.says(&format!("warning: {failed} of 40"));
}

#[test]
fn simulating_needs_no_observations() {
    let problem = TOY.replace("[observed]\nvalues = { x1 = 2.5, x2 = 5, x3 = 9 }\n", "");
    Bench::new(&problem).run(&["simulate", "p.toml", "--rows", "2"]).exits(0);
}

/// What `simulate` writes can be observed: its parameter columns are passed over.
#[test]
fn a_simulated_row_serves_as_observation() {
    let bench = Bench::new(TOY);
    bench.run(&["simulate", "p.toml", "--rows", "1", "--at", "theta=10", "--out", "row.csv"]).exits(0);
    bench.write("p.toml", TOY.replace("values = { x1 = 2.5, x2 = 5, x3 = 9 }", "file = \"row.csv\""));
    let checked = bench.run(&["check", "p.toml"]).exits(0);
    assert!(checked.stdout.contains("no mistakes"), "{}", checked.stdout);
}
