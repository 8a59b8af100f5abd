//! Tables as models: simulations that exist already.

use std::fs;
use std::path::Path;

use counterpoise_core::workers::Serial;
use counterpoise_tables::TableFile;

use super::{Bench, TOY};

/// The toy problem in one generation, by a rule without a search.
fn simulator() -> String {
    TOY.replace("generations = 2", "generations = 1\nweighting = \"mad\"")
}

/// The same problem on a table.
fn on_table(file: &str) -> String {
    simulator()
        .replace("[model]\nbuiltin = \"toy-sorted\"\ndraws = 3", &format!("[model.table]\nfile = \"{file}\""))
        .replace("generations = 1\n", "")
}

/// All values of a table, row by row, as bits.
fn bits(path: &Path) -> Vec<u64> {
    let table = TableFile::open(path).unwrap();
    let rows = table.survey(&mut |_| true).unwrap().rows;
    let columns: Vec<usize> = (0..table.names().len()).collect();
    let mut all = vec![0; rows as usize * columns.len()];
    let width = columns.len();
    let taken = table.read(&columns, rows, &Serial, &mut |block| {
        for (row, values) in (block.first as usize..).zip(block.values.chunks(block.columns.len())) {
            for (column, value) in block.columns.clone().zip(values) {
                all[row * width + column] = value.to_bits();
            }
        }
        true
    });
    taken.unwrap();
    all
}

#[test]
fn what_simulate_writes_run_reads_and_finds_the_same_posterior_to_the_bit() {
    let bench = Bench::new(&simulator());
    bench.run(&["run", "p.toml", "--into", "made"]).exits(0);
    let expected = bits(&bench.path("made/posterior.parquet"));
    let mut tables = Vec::new();
    for kind in ["csv", "csv.gz", "parquet"] {
        let file = format!("t.{kind}");
        bench.run(&["simulate", "p.toml", "--rows", "400", "--out", &file]).exits(0);
        tables.push(bits(&bench.path(&file)));
        bench.write("t.toml", on_table(&file));
        for threads in ["1", "3"] {
            let into = format!("{kind}-{threads}");
            let done =
                bench.run(&["run", "t.toml", "--into", &into, "--threads", threads, "--json"]).exits(0);
            let run = done.json();
            assert_eq!((&run["simulations"], &run["generations"]), (&400.into(), &1.into()));
            assert_eq!(bits(&bench.path(&format!("{into}/posterior.parquet"))), expected, "{into}");
        }
    }
    assert!(tables[0] == tables[1] && tables[0] == tables[2], "the three kinds differ");
    assert_eq!(tables[0].len(), 400 * 4);
}

#[test]
fn rows_that_cannot_be_used_are_counted_failures() {
    let bench = Bench::new(
        &on_table("t.csv")
            .replace("simulations = 400", "simulations = 100")
            .replace("keep = 40", "keep = 20"),
    );
    let mut rows = vec!["theta;x1;x2;x3".to_owned()];
    rows.extend((0..120).map(|at| format!("{};{};{};{}", 1.0 + 0.5 * f64::from(at), at, 2 * at, 3 * at)));
    rows[5] = "NA;1;2;3".into();
    rows[6] = "2000;1;2;3".into();
    rows[7] = "2;1;;3".into();
    rows[8] = "3;inf;2;3".into();
    bench.write("t.csv", rows.join("\r\n"));
    let done = bench.run(&["run", "p.toml", "--json"]).exits(0);
    let run = done.json();
    assert_eq!((&run["simulations"], &run["failed"]), (&100.into(), &4.into()));
    let warning = run["warnings"].to_string();
    let example = "4 of 100 simulations failed and were never accepted; for example row 4 of generation 0 at theta = NaN: \
                   the parameter theta is missing or lies outside the prior";
    assert!(warning.contains(example), "{warning}");
    let check = bench.run(&["check", "p.toml"]).exits(0).stdout;
    for line in [
        "96 of 100 rows can be used",
        "2 rows fail: the parameter theta is missing or lies outside the prior (the first is row 4, counted from 0)",
        "1 rows fail: x2 is missing or infinite (the first is row 6, counted from 0)",
        "nothing is simulated",
    ] {
        assert!(check.contains(line), "`{line}` is not in:\n{check}");
    }
}

#[test]
fn too_few_usable_rows_end_the_run_without_a_command_that_cannot_work() {
    let bench =
        Bench::new(&on_table("t.csv").replace("simulations = 400", "").replace("keep = 40", "keep = 20"));
    let rows: Vec<String> = (0..60).map(|at| format!("{},{at},,3", 2 + at)).collect();
    bench.write("t.csv", format!("theta,x1,x2,x3\n{}\n", rows.join("\n")));
    let done = bench
        .run(&["run", "p.toml"])
        .exits(1)
        .says("60 of 60 simulations failed: 0 are usable but 20 must be kept");
    assert!(!done.stderr.contains("counterpoise simulate"), "{}", done.stderr);
}

#[test]
fn roles_are_found_by_name_with_near_misses() {
    let header = "\"\",Theta,x1,x2,x3,seed\n";
    let rows: Vec<String> = (0..60).map(|at| format!("\"{at}\",{},{at},1,2,text", 2 + at)).collect();
    let problem = on_table("t.csv").replace("simulations = 400\nkeep = 40", "keep = 20");
    let bench = Bench::new(
        &problem.replace("file = \"t.csv\"", "file = \"t.csv\"\nstatistics = [\"x1\", \"x22\", \"x1\", 3]"),
    );
    bench.write("t.csv", format!("{header}{}\n", rows.join("\n")));
    bench
        .run(&["run", "p.toml"])
        .exits(2)
        .says("the table has no column `theta`")
        .says("did you mean `Theta`?")
        .says("p.toml:8:")
        .says("the table has no column `x22`")
        .says("the statistic `x1` is listed twice")
        .says("a statistic is named by text, found a whole number");
    bench.write("p.toml", problem.replace("theta =", "Theta ="));
    bench.run(&["run", "p.toml"]).exits(2).says("the statistic `seed` of the model is missing");
    let listed = problem
        .replace("theta =", "Theta =")
        .replace("\"t.csv\"", "\"t.csv\"\nstatistics = [\"x3\", \"x1\", \"x2\"]");
    bench.write("p.toml", &listed);
    let run = bench.run(&["run", "p.toml", "--json"]).exits(0).json();
    let names: Vec<&String> = run["distance_weights"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["x3", "x1", "x2"]);
    let check = bench.run(&["check", "p.toml", "--json"]).exits(0).json();
    assert_eq!(
        (&check["unused"], &check["constant"]),
        (&serde_json::json!(["seed"]), &serde_json::json!(["x3", "x2"]))
    );
    bench.write("p.toml", listed.replace("\"x3\"", "\"seed\"").replace("x3 = 9", "seed = 9"));
    bench
        .run(&["run", "p.toml", "--into", "other"])
        .exits(2)
        .says("t.csv, line 2, column 6 (`seed`): expected a number, found `text`")
        .says("a column that is no statistic is left out");
}

#[test]
fn what_a_table_cannot_do_is_a_mistake_with_a_remedy() {
    let bench = Bench::new(&simulator());
    bench.run(&["simulate", "p.toml", "--rows", "60", "--out", "t.parquet"]).exits(0);
    let problem = on_table("t.parquet").replace("keep = 40", "keep = 20\ngenerations = 3");
    bench.write("p.toml", problem.replace("values = { x1 = 2.5, x2 = 5, x3 = 9 }", "truth = { theta = 5 }"));
    bench
        .run(&["run", "p.toml"])
        .exits(2)
        .says("a table is one generation, and not 3")
        .says("the table has 60 rows, and not 400")
        .says("a table cannot be simulated at a truth");
    bench.write("p.toml", problem.replace("generations = 3", "").replace("simulations = 400", ""));
    bench
        .run(&["simulate", "p.toml", "--rows", "5"])
        .exits(2)
        .says("a table of simulations cannot make more of them");
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0).says("already finished");
    let mut bytes = fs::read(bench.path("t.parquet")).unwrap();
    bytes[200] ^= 1;
    bench.write("t.parquet", bytes);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(2).says("holds another run: model.table.blake3 was");
    for (file, message) in [
        ("no.csv", "cannot"),
        ("p.txt", "the name does not tell what kind of table this is"),
        ("folder.csv", "this is not a regular file"),
        ("empty.csv", "the table is empty"),
        ("header.csv", "the table has 0 rows"),
        ("twice.csv", "the columns 1 and 3 are both named `theta`"),
    ] {
        let _ = fs::create_dir(bench.path("folder.csv"));
        bench.write("p.txt", "");
        bench.write("empty.csv", "");
        bench.write("header.csv", "theta,x1,x2,x3\n");
        bench.write("twice.csv", "theta,x1,theta\n1,2,3\n");
        bench.write("p.toml", on_table(file).replace("simulations = 400\nkeep = 40", ""));
        let done = bench.run(&["run", "p.toml"]).exits(2).says("p.toml:7:8");
        assert!(file == "no.csv" || done.stderr.contains(message), "{file}: {}", done.stderr);
    }
}

/// The file of a million columns is refused in a moment and without their memory.
#[test]
fn a_table_of_a_million_columns_is_refused() {
    let bench = Bench::new(&on_table("t.csv"));
    let names: Vec<String> = (0..1_000_000).map(|at| format!("x{at}")).collect();
    bench.write("t.csv", format!("theta,{}\n", names.join(",")));
    bench.run(&["run", "p.toml"]).exits(2).says("the table has 1000001 columns, and at most 65536 are read");
}
