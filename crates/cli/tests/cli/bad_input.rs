//! Files and arguments that cannot be used: a clear message and exit code 2.

use std::fs::File;

use super::{Bench, TOY};

#[test]
fn files_that_cannot_be_read() {
    let bench = Bench::new(TOY);
    for command in [&["run"][..], &["check"], &["simulate", "--rows", "1"]] {
        let missing = [command, &["nowhere.toml"]].concat();
        bench.run(&missing).exits(2).says("error: cannot read nowhere.toml: ");
        let folder = [command, &["."]].concat();
        bench.run(&folder).exits(2).says("error: cannot read .: ");
    }
    File::create(bench.path("huge.toml")).unwrap().set_len((1 << 20) + 1).unwrap();
    bench.run(&["check", "huge.toml"]).exits(2).says("it is larger than 1 MiB");
    bench.write("bytes.toml", b"name = \"\xc3\x28\"\n");
    bench.run(&["check", "bytes.toml"]).exits(2).says("this is not UTF-8").says("bytes.toml:1:9");
    File::create(bench.path("huge.csv")).unwrap().set_len((64 << 20) + 1).unwrap();
    bench.write("q.toml", TOY.replace("values = { x1 = 2.5, x2 = 5, x3 = 9 }", "file = \"huge.csv\""));
    bench.run(&["check", "q.toml"]).exits(2).says("it is larger than 64 MiB").says("q.toml:11:8");
}

/// Nobody ever writes into the pipe: reading it would wait for ever.
#[cfg(unix)]
#[test]
fn pipes_devices_and_directories_are_refused() {
    let bench = Bench::new(TOY);
    assert!(std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    let file =
        |name: &str| TOY.replace("values = { x1 = 2.5, x2 = 5, x3 = 9 }", &format!("file = \"{name}\""));
    for (name, reason) in [
        ("pipe", "it is a pipe or a device"),
        ("/dev/zero", "it is a pipe or a device"),
        (".", "it is a directory"),
    ] {
        bench.run(&["check", name]).exits(2).says(&format!("error: cannot read {name}: {reason}"));
        bench.write("q.toml", file(name));
        bench.run(&["check", "q.toml"]).exits(2).says(reason).says("q.toml:11:8");
    }
    std::fs::rename(bench.path("pipe"), bench.path("run.json")).unwrap();
    bench.run(&["show", "."]).exits(2).says("run.json is not a regular file");
}

#[test]
fn usage() {
    let bench = Bench::new(TOY);
    bench.run(&[]).exits(2);
    bench.run(&["rum", "p.toml"]).exits(2).says("similar subcommand");
    bench.run(&["run"]).exits(2).says("PROBLEM");
    bench.run(&["run", "p.toml", "--threads", "0"]).exits(2).says("--threads");
    bench.run(&["run", "p.toml", "--chunk", "0"]).exits(2).says("--chunk");
    bench.run(&["simulate", "p.toml"]).exits(2).says("--rows");
    bench.run(&["run", "p.toml", "--mpi"]).exits(2).says("need the command of the Python package");
    bench.run(&["run", "p.toml", "--dask", "tcp://h:1", "--mpi"]).exits(2).says("cannot be used with");
    let done = bench.run(&["--version"]).exits(0);
    assert_eq!(done.stdout, format!("counterpoise {}\n", env!("CARGO_PKG_VERSION")));
    assert!(bench.run(&["run", "--help"]).exits(0).stdout.contains("--into"));
}

/// Two thousand million rows of a million statistics.
#[test]
fn more_memory_than_there_is() {
    let problem = TOY
        .replace("draws = 3", "draws = 1_000_000")
        .replace("values = { x1 = 2.5, x2 = 5, x3 = 9 }", "truth = { theta = 3 }");
    let bench = Bench::new(&problem);
    bench.run(&["run", "p.toml", "--set", "method.simulations=2_000_000_000"]).exits(2).says("GiB of memory");
    assert!(!bench.path("runs").exists());
}

#[test]
fn directories_that_hold_no_run() {
    let bench = Bench::new(TOY);
    bench.run(&["show", "nowhere"]).exits(2).says("error: nowhere is no directory with a run.json");
    bench.run(&["show", "."]).exits(2).says("error: . holds no run: it has no run.json");
    bench.write("run.json", "{");
    bench.run(&["show", "."]).exits(2).says("does not describe a run").says("caused by: ");
    bench.write("run.json", "{\"format\": 99}");
    bench.run(&["show", "."]).exits(2).says("has format 99");
    bench.write("run.json", "{\"format\": 1, \"run\": {}, \"summary\": {\"problem\": 3}}");
    bench.run(&["show", "."]).exits(2).says("run.json has no summary of a run");
    File::create(bench.path("run.json")).unwrap().set_len((256 << 20) + 1).unwrap();
    bench.run(&["show", "."]).exits(2).says("larger than 256 MiB");
}

#[test]
fn targets_that_cannot_be_used() {
    let bench = Bench::new(TOY);
    bench.write("file", "");
    bench.run(&["run", "p.toml", "--into", "file"]).exits(2).says("error: cannot ");
    bench.write("posterior.parquet", "mine");
    bench.run(&["run", "p.toml", "--into", "."]).exits(2).says("exists and belongs to no run");
    bench
        .run(&["simulate", "p.toml", "--rows", "1", "--out", "nowhere/x.csv"])
        .exits(1)
        .says("cannot write nowhere");
}
