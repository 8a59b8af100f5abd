//! Tables of a run for other programs.

use std::fs;
use std::path::Path;

use counterpoise_run::store::{Sheet, Values};

use super::{Bench, TOY};

/// 33 counts that tell much of each other.
const DEATH: &str = r#"name = "death"

[parameters]
k = { law = "log-uniform", low = 1e-3, high = 1e3 }
sigma = { law = "log-uniform", low = 1e-3, high = 1e3 }

[model]
builtin = "death"

[observed]
file = "observed.csv"

[method]
simulations = 18_000
keep = 200
generations = 2
weighting = "uniform"
adjust = "none"
reduction = "none"
proposal = "covariance"
seed = 3
"#;

fn death() -> Bench {
    let bench = Bench::new(DEATH);
    let observed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/death/observed.csv");
    fs::copy(observed, bench.path("observed.csv")).unwrap();
    bench
}

#[test]
fn the_posterior_and_every_simulation() {
    // Some simulations fail: the model declines negative parameters.
    let problem =
        TOY.replace("law = \"log-uniform\", low = 1, high = 100", "law = \"normal\", mean = 5, sd = 5");
    let bench = Bench::new(&problem);
    let run = bench.run(&["run", "p.toml", "--into", "r", "--json"]).exits(0).json();
    let kept = run["kept"].as_u64().unwrap();
    bench.run(&["export", "r", "--to", "p.csv"]).exits(0).says(&format!("{kept} rows are in p.csv"));
    let text = fs::read_to_string(bench.path("p.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("theta,importance_weight,distance,generation,row"));
    let mean: f64 = lines
        .map(|line| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            cells[0] * cells[1]
        })
        .sum();
    assert!((mean - run["parameters"]["theta"]["mean"].as_f64().unwrap()).abs() < 1e-12);

    let what = ["--what", "simulations"];
    bench.run(&[&["export", "r", "--to", "s.csv"], &what[..]].concat()).exits(0).says("800 rows");
    let text = fs::read_to_string(bench.path("s.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("generation,row,theta,x1,x2,x3,outcome"));
    let (mut failed, mut seen) = (0, 0);
    for line in lines {
        let cells: Vec<&str> = line.splitn(7, ',').collect();
        assert_eq!((cells[0], cells[1]), (&*(seen / 400).to_string(), &*(seen % 400).to_string()));
        assert_eq!(
            cells[2].split('e').next().unwrap().trim_start_matches('-').len(),
            18,
            "17 digits and a point"
        );
        assert_eq!(cells[3].is_empty(), !cells[6].is_empty(), "{line}");
        assert!(cells[6].is_empty() || cells[6].starts_with("\"declined: "), "{line}");
        (seen, failed) = (seen + 1, failed + u64::from(!cells[6].is_empty()));
    }
    assert_eq!((seen, failed), (800, run["failed"].as_u64().unwrap()));

    bench.run(&[&["export", "r", "--to", "s.parquet"], &what[..]].concat()).exits(0);
    bench.run(&["export", "r", "--to", "p.parquet"]).exits(0);
    assert!(fs::read(bench.path("s.parquet")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn nothing_is_overwritten_and_other_kinds_are_refused() {
    let bench = Bench::new(TOY);
    bench.run(&["export", ".", "--to", "x.csv"]).exits(2).says("holds no run");
    bench.run(&["run", "p.toml", "--into", "r", "--set", "stop.simulations=10"]).exits(3);
    bench.run(&["export", "r", "--to", "x.csv"]).exits(2).says("has no finished generation");
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    bench.write("x.csv", "mine");
    bench.run(&["export", "r", "--to", "x.csv"]).exits(2).says("x.csv exists already").says("--force");
    assert_eq!(fs::read(bench.path("x.csv")).unwrap(), b"mine");
    bench.run(&["export", "r", "--to", "x.csv", "--force"]).exits(0);
    assert!(fs::read(bench.path("x.csv")).unwrap().starts_with(b"theta,"));
    bench
        .run(&["export", "r", "--to", "x.txt"])
        .exits(2)
        .says("neither a .csv nor a .parquet nor a .nc file");
    let elsewhere = bench.run(&["export", "r", "--to", "x.nc"]).exits(2);
    elsewhere.says("by the command of the Python package").says("pip install counterpoise[arviz]");
    let all = bench.run(&["export", "r", "--to", "x.nc", "--what", "simulations"]).exits(2);
    all.says("not all simulations");
    bench.run(&["export", "r", "--to", "nowhere/x.csv"]).exits(1).says("cannot export to nowhere/x.csv");
    let names: Vec<_> =
        fs::read_dir(bench.folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing else is left: {names:?}");
}

/// What is exported is what was written, or nothing.
#[test]
fn damaged_tables_are_refused() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    for (what, file) in
        [("posterior", "posterior.parquet"), ("simulations", "generations/001/simulations.parquet")]
    {
        let path = bench.path("r").join(file);
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        changed[bytes.len() / 4] ^= 1;
        fs::write(&path, &changed).unwrap();
        let export = ["export", "r", "--to", "x.csv", "--what", what];
        let refused = bench.run(&export).exits(1).says(&format!("r/{file} is damaged"));
        refused.says("hint: counterpoise verify r --salvage keeps what is whole");
        assert!(!bench.path("x.csv").exists());
        fs::write(&path, &bytes).unwrap();
        bench.run(&export).exits(0);
        fs::remove_file(bench.path("x.csv")).unwrap();
    }
}

#[test]
fn the_simulations_of_a_table_are_in_the_table() {
    let bench = Bench::new(TOY);
    bench.run(&["simulate", "p.toml", "--rows", "400", "--out", "t.csv"]).exits(0);
    let problem = TOY
        .replace("[model]\nbuiltin = \"toy-sorted\"\ndraws = 3", "[model.table]\nfile = \"t.csv\"")
        .replace("generations = 2\n", "");
    bench.write("t.toml", problem);
    bench.run(&["run", "t.toml", "--into", "r"]).exits(0);
    bench.run(&["export", "r", "--to", "p.csv"]).exits(0);
    let refused = bench.run(&["export", "r", "--to", "s.csv", "--what", "simulations"]).exits(2);
    refused.says("the simulations of r are in t.csv, and only there");
}

/// Counts at successive times: the file of the run has its rows in another order, and what is exported does not.
#[test]
fn simulations_are_exported_in_the_order_of_their_rows() {
    let bench = death();
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    bench.run(&["export", "r", "--to", "s.csv", "--what", "simulations"]).exits(0).says("36000 rows");
    let text = fs::read_to_string(bench.path("s.csv")).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    for (at, cells) in lines.iter().enumerate() {
        assert_eq!((cells[0], cells[1]), (&*(at / 18_000).to_string(), &*(at % 18_000).to_string()));
    }
    let sheet = Sheet::open(&bench.path("r/generations/001/simulations.parquet")).unwrap();
    assert_eq!(sheet.groups(), 2);
    let mut moved = 0;
    for group in 0..2 {
        let columns = sheet.read(group).unwrap();
        let Values::Whole(rows) = &columns[0] else { panic!("{columns:?}") };
        for (at, &row) in rows.iter().enumerate() {
            let line = &lines[18_000 + row as usize];
            moved += usize::from(row as usize != 9_000 * group + at);
            for (column, cell) in columns[1..].iter().zip(&line[2..]) {
                if let Values::Real(values) = column {
                    assert_eq!(cell.parse::<f64>().unwrap().to_bits(), values[at].to_bits(), "row {row}");
                }
            }
        }
    }
    assert!(moved > 17_000, "{moved} rows are in another place");
    // In Parquet too, and nothing else than in the other file.
    bench.run(&["export", "r", "--to", "s.parquet", "--what", "simulations"]).exits(0);
    let exported = Sheet::open(&bench.path("s.parquet")).unwrap();
    let mut next = 0;
    for group in 0..exported.groups() {
        let columns = exported.read(group).unwrap();
        let (Values::Whole(rows), Values::Real(k)) = (&columns[1], &columns[2]) else {
            panic!("{columns:?}")
        };
        for (row, k) in rows.iter().zip(k) {
            assert_eq!(
                (row.to_string(), k.to_bits()),
                (lines[next][1].to_owned(), lines[next][2].parse::<f64>().unwrap().to_bits())
            );
            next += 1;
        }
    }
    assert_eq!(next, 36_000);
}
