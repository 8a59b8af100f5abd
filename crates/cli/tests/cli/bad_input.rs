//! Files that cannot be used wherever a command takes one. The texts are in `tests/errors`.

use super::{Bench, TOY};

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
fn a_command_explains_itself() {
    let bench = Bench::new(TOY);
    assert!(bench.run(&["run", "--help"]).exits(0).stdout.contains("--into"));
}
