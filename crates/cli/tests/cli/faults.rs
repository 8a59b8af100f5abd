//! Full disks, directories that cannot be written, and processes that are killed.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Bench, TOY};

/// A small file system in memory, as long as this lives. Only root may make one.
struct Mounted(PathBuf);

impl Mounted {
    #[allow(clippy::print_stderr)]
    fn new(path: PathBuf, kilobytes: usize) -> Option<Self> {
        fs::create_dir_all(&path).unwrap();
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).output();
        if mounted.is_ok_and(|done| done.status.success()) {
            return Some(Self(path));
        }
        // The test runner shows this with the test's name.
        eprintln!("skipped: no file system may be mounted here");
        None
    }

    fn make_read_only(&self) {
        assert!(Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// The disk is full at another moment each time: what is committed stays, and the run goes on when there is room.
#[test]
fn a_full_disk() {
    let bench = Bench::new(&TOY.replace("simulations = 400", "simulations = 2000"));
    let run = ["run", "p.toml", "--set", "method.generations=4"];
    bench.run(&[&run[..], &["--into", "whole"]].concat()).exits(0);
    let whole = fs::read(bench.path("whole/posterior.parquet")).unwrap();
    let Some(mounted) = Mounted::new(bench.path("small"), 1024) else { return };
    let mut met = Vec::new();
    for room in [4usize, 20, 60, 100, 110, 120, 130, 140, 150, 160, 170, 180, 200, 240, 260] {
        let filler = bench.path("small/filler");
        fs::write(&filler, vec![0; 1024 * (1020 - room)]).unwrap();
        for limit in [3500, 8000] {
            let set = format!("stop.simulations={limit}");
            let done = bench.run(&[&run[..], &["--into", "small/r", "--set", &set]].concat());
            if done.code == 3 {
                continue;
            }
            let done = done.exits(1).says("small/r/").says("beyond its first ").says(" bytes");
            let done = done.says("No space left on device").says("hint: make room and give the same command");
            let place = done.stderr.split("cannot write ").nth(1).unwrap();
            met.push(place.split(' ').next().unwrap().to_owned());
            if bench.path("small/r/run.json").exists() {
                bench.run(&["verify", "small/r"]).exits(0);
            }
        }
        fs::remove_file(&filler).unwrap();
        if room % 20 == 0 {
            bench.run(&[&run[..], &["--into", "small/r"]].concat()).exits(0);
            assert!(fs::read(bench.path("small/r/posterior.parquet")).unwrap() == whole, "{room} kB");
            bench.run(&["verify", "small/r"]).exits(0);
            fs::remove_dir_all(bench.path("small/r")).unwrap();
        }
    }
    met.sort();
    met.dedup();
    assert!(met.iter().any(|path| path.ends_with("journal")), "{met:?}");
    assert!(met.iter().any(|path| path.ends_with("simulations.parquet")), "{met:?}");
    drop(mounted);
}

/// No room for the first byte: the same answer as later on.
#[test]
fn a_disk_that_is_full_from_the_start() {
    let bench = Bench::new(TOY);
    let Some(mounted) = Mounted::new(bench.path("small"), 256) else { return };
    bench.run(&["run", "p.toml", "--into", "small/r"]).exits(0);
    let path = bench.path("small/r/posterior.parquet");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(fs::write(bench.path("small/filler"), vec![0; 256 << 10]).is_err());
    for command in [&["run", "p.toml", "--into", "small/new"][..], &["verify", "small/r", "--salvage"]] {
        let done = bench.run(command).exits(1).says("/lock beyond its first 0 bytes");
        done.says("No space left on device").says("hint: make room and give the same command");
    }
    fs::remove_file(bench.path("small/filler")).unwrap();
    bench.run(&["run", "p.toml", "--into", "small/new"]).exits(0);
    bench.run(&["verify", "small/r", "--salvage"]).exits(0);
    drop(mounted);
}

#[test]
fn a_directory_that_cannot_be_written() {
    let bench = Bench::new(TOY);
    // A path below a regular file, which not even root can write.
    bench.write("file", "");
    bench.run(&["run", "p.toml", "--into", "file/r"]).exits(2).says("file/r").says("hint: use --into");
    let Some(mounted) = Mounted::new(bench.path("small"), 1024) else { return };
    let half = ["run", "p.toml", "--into", "small/r", "--set", "stop.simulations=500"];
    bench.run(&half).exits(3);
    fs::create_dir(bench.path("small/empty")).unwrap();
    mounted.make_read_only();
    for into in ["small/r", "small/empty", "small/new"] {
        let done = bench.run(&["run", "p.toml", "--into", into]).exits(2).says(into);
        done.says("Read-only file system").says("hint: use --into with another directory");
    }
    // What is there can still be looked at.
    bench.run(&["verify", "small/r"]).exits(0);
    bench.run(&["show", "small/r"]).exits(0);
    bench.run(&["export", "small/r", "--to", "x.csv"]).exits(0);
}

/// Numbers that look random and are the same every time.
struct Moments(u64);

impl Moments {
    fn next(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Starts a run, kills it after some milliseconds; whether it had ended by itself.
fn kill_after(folder: &Path, arguments: &[&str], log: &str, milliseconds: u64) -> bool {
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(milliseconds);
    kill_when(folder, arguments, log, &|| std::time::Instant::now() >= deadline)
}

/// Starts a run, kills it when it is time; whether it had ended by itself.
fn kill_when(folder: &Path, arguments: &[&str], log: &str, is_time: &dyn Fn() -> bool) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
        .current_dir(folder)
        .args(arguments)
        .env("CALLS", log)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !is_time() {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0));
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap().code().is_some()
}

/// Killed while it simulates, weighs and commits: no repair, no damage, the same result.
#[test]
fn a_run_that_is_killed_goes_on() {
    let bench = Bench::new(&TOY.replace("simulations = 400", "simulations = 4000"));
    // With a rule that is quick, or it is always killed while it weighs.
    let quick = ["--set", "method.weighting=hellinger", "--set", "method.generations=12"];
    let run = [&["run", "p.toml"][..], &quick].concat();
    let started = std::time::Instant::now();
    bench.run(&[&run[..], &["--into", "whole"]].concat()).exits(0);
    let whole = started.elapsed().as_millis() as u64;
    let mut moments = Moments(1);
    let (mut kills, mut into) = (0, 0);
    while kills < 60 {
        into += 1;
        let name = format!("r{into}");
        loop {
            let threads = ["1", "2", "3"][moments.next(3) as usize];
            let arguments = [&run[..], &["--into", &name, "--threads", threads]].concat();
            if kill_after(bench.folder.path(), &arguments, "", 5 + moments.next(whole / 3)) {
                break;
            }
            kills += 1;
            if bench.path(&name).join("run.json").exists() {
                bench.run(&["verify", &name]).exits(0);
            }
        }
        bench.run(&[&run[..], &["--into", &name]].concat()).exits(0);
        let posterior = |run: &str| fs::read(bench.path(run).join("posterior.parquet")).unwrap();
        assert!(posterior(&name) == posterior("whole"), "after {kills} kills");
    }
}

/// Writes the seed of every simulation it begins into a file, and takes a millisecond for it.
const COUNTING: &str = r#"import json, os, random, sys, time
calls = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
print(json.dumps({"ready": True, "statistics": ["mean", "largest"]}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    os.write(calls, f"{request['seed']}\n".encode())
    time.sleep(0.001)
    draw = random.Random(request["seed"])
    values = [draw.uniform(0, request["parameters"]["theta"]) for _ in range(10)]
    answer = {"id": request["id"], "statistics": [sum(values) / 10, max(values)]}
    if request["seed"] % 10 == 0:
        answer = {"id": request["id"], "error": "unlucky"}
    print(json.dumps(answer), flush=True)
"#;

const COUNTED: &str = r#"name = "counted"

[parameters]
theta = { law = "log-uniform", low = 1, high = 100 }

[model.command]
run = ["python3", "simulate.py"]

[observed]
values = { mean = 4.9, largest = 9.7 }

[method]
simulations = 1000
keep = 50
generations = 3
"#;

/// Killed at 50 moments, each time going on with another number of threads: the same posterior to the byte, and the
/// program itself counts that only simulations that were under way were begun again.
#[test]
fn a_run_with_a_program_that_is_killed_repeats_nothing() {
    let bench = Bench::new(COUNTED);
    bench.write("simulate.py", COUNTING);
    let calls = |log: &str| -> Vec<u64> {
        let text = fs::read_to_string(bench.path(log)).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    let uncut = ["run", "p.toml", "--into", "whole", "--threads", "2"];
    assert!(kill_after(bench.folder.path(), &uncut, "whole.log", 60_000), "it ends by itself");
    let distinct = |log: &str| calls(log).into_iter().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(calls("whole.log").len(), 3000, "an uncut run simulates every row once");
    let mut moments = Moments(2);
    let (mut kills, mut into) = (0, 0);
    while kills < 50 {
        into += 1;
        let (name, log) = (format!("r{into}"), format!("r{into}.log"));
        let mut under_way = 0;
        loop {
            let threads = 1 + moments.next(3);
            let number = threads.to_string();
            let arguments = ["run", "p.toml", "--into", &name, "--threads", &number];
            // A program needs a moment to start.
            let last = kills >= 50;
            let pause = if last { 60_000 } else { 50 + moments.next(500) };
            if kill_after(bench.folder.path(), &arguments, &log, pause) {
                break;
            }
            kills += 1;
            // One that its program works on, and one that is answered and waits to be kept: it does on a busy machine.
            under_way += 2 * threads as usize;
            if kills % 10 == 0 && bench.path(&name).join("run.json").exists() {
                bench.run(&["verify", &name]).exits(0);
            }
        }
        let posterior = |run: &str| fs::read(bench.path(run).join("posterior.parquet")).unwrap();
        assert!(posterior(&name) == posterior("whole"), "after {kills} kills");
        assert_eq!(distinct(&log), distinct("whole.log"));
        let repeated = calls(&log).len() - 3000;
        assert!(repeated <= under_way, "{repeated} simulations repeated, {under_way} were under way");
    }
}

/// A program so quick that it is told many rows ahead: what is begun again after a kill was on its way at that moment.
#[test]
fn a_quick_program_that_is_killed_repeats_what_was_on_its_way() {
    // Rows that a program knows of, and as many that are answered and wait to be kept.
    const ON_THEIR_WAY: usize = 2 * 64;
    let quick = COUNTED.replace("simulations = 1000", "weighting = \"uniform\"\nsimulations = 10_000");
    let bench = Bench::new(&quick);
    bench.write("simulate.py", COUNTING.replace("    time.sleep(0.001)\n", ""));
    let calls = |log: &str| fs::read_to_string(bench.path(log)).unwrap_or_default().lines().count();
    let posterior = |run: &str| fs::read(bench.path(run).join("posterior.parquet")).unwrap();
    let run = |into, log, is_time: &dyn Fn() -> bool| {
        let arguments = ["run", "p.toml", "--into", into, "--threads", "2"];
        kill_when(bench.folder.path(), &arguments, log, is_time)
    };
    assert!(run("whole", "whole.log", &|| false));
    assert_eq!(calls("whole.log"), 30_000, "an uncut run simulates every row once");
    let (mut moments, mut kills, mut next) = (Moments(3), 0, 0);
    loop {
        // In the midst of quick answers.
        next = calls("cut.log").max(next) + 1_000 + moments.next(2_000) as usize;
        if run("cut", "cut.log", &|| calls("cut.log") > next) {
            break;
        }
        kills += 1;
    }
    assert!(kills > 5, "{kills} kills");
    assert!(posterior("cut") == posterior("whole"), "after {kills} kills");
    let repeated = calls("cut.log") - 30_000;
    assert!(repeated <= 2 * ON_THEIR_WAY * kills, "{repeated} simulations repeated after {kills} kills");
}

/// Stopped in order, many times: only what a program was at work on is begun again, nothing that it had answered.
#[test]
fn a_run_that_is_stopped_repeats_nothing_that_was_finished() {
    let bench = Bench::new(COUNTED);
    // It notes the seed once it has answered.
    let (note, end) = ("    os.write(calls, f\"{request['seed']}\\n\".encode())\n", "flush=True)\n");
    assert!(COUNTING.contains(note) && COUNTING.ends_with(end));
    bench.write("simulate.py", COUNTING.replace(note, "") + note);
    let arguments = ["run", "p.toml", "--into", "r", "--threads", "3"];
    let (mut stops, mut pause) = (0, std::time::Duration::from_millis(400));
    loop {
        let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
            .current_dir(bench.folder.path())
            .args(arguments)
            .env("CALLS", "r.log")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(pause);
        if stops < 15 {
            Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        }
        match child.wait().unwrap().code() {
            Some(3) => stops += 1,
            // It was asked before it heeded, or even listened: on a busy machine it must be given longer, or it never begins.
            Some(130) | None => pause += pause / 4,
            other => break assert_eq!(other, Some(0)),
        }
    }
    assert!(stops > 3, "{stops} stops");
    let answered = fs::read_to_string(bench.path("r.log")).unwrap().lines().count();
    // An answer may be on its way, one for each of the threads.
    assert!(answered <= 3000 + 3 * stops, "{} repeated in {stops} stops", answered - 3000);
}

/// What the program needs was not there: its failures end the run, and are not held against it once it is there.
#[test]
fn failures_that_ended_a_run_are_tried_again() {
    let bench =
        Bench::new(&COUNTED.replace("simulations = 1000", "simulations = 200\nweighting = \"uniform\""));
    let check = "    if not os.path.exists(\"licence\"):\n        print(json.dumps({\"id\": request[\"id\"], \
                 \"error\": \"no licence\"}), flush=True)\n        continue\n";
    let call = "    time.sleep(0.001)\n";
    bench.write("simulate.py", COUNTING.replace(call, check));
    let run = |into: &str| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_counterpoise"));
        let arguments = ["run", "p.toml", "--into", into];
        let output =
            command.current_dir(bench.folder.path()).env("CALLS", "calls").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run("r");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no licence"), "{said}");
    bench.run(&["verify", "r"]).exits(0);
    bench.write("licence", "");
    for into in ["r", "whole"] {
        let (code, said) = run(into);
        assert_eq!(code, Some(0), "{said}");
    }
    let posterior = |run: &str| fs::read(bench.path(run).join("posterior.parquet")).unwrap();
    assert!(posterior("r") == posterior("whole"));
}
