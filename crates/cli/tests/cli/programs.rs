//! Simulators that are programs: templates, failures and what ends a run, what is left behind.
#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Bench, program};

/// Fails where the seed is a multiple of its first argument, by dying or (for 2, which is often) by saying so; hangs
/// where that is negative. Notes its number in the folder of its second argument.
const SIMULATOR: &str = r#"import json, os, random, sys, time
fail, pids = sys.argv[1], sys.argv[2]
late, fail = fail == "late", 0 if fail == "late" else int(fail)
if pids:
    open(os.path.join(pids, str(os.getpid())), "w").close()
print(json.dumps({"ready": True, "statistics": ["mean", "largest"]}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if fail < 0:
        time.sleep(1000)
    if fail and request["seed"] % fail == 0:
        print("unlucky seed", request["seed"], file=sys.stderr, flush=True)
        if fail != 2:
            os._exit(9)
        print(json.dumps({"id": request["id"], "error": "unlucky"}), flush=True)
        continue
    draw = random.Random(request["seed"])
    values = [draw.uniform(0, request["parameters"]["theta"]) for _ in range(10)]
    print(json.dumps({"id": request["id"], "statistics": [sum(values) / 10, max(values)]}), flush=True)
"#;

/// A greeting that may never come.
const GREETS: &str = "if late:\n    time.sleep(1000)\nprint(json.dumps({\"ready\"";

const PROBLEM: &str = r#"name = "largest"

[parameters]
theta = { law = "log-uniform", low = 1, high = 100 }

[model.command]
run = ["python3", "simulate.py", "0", ""]

[observed]
values = { mean = 4.9, largest = 9.7 }

[method]
simulations = 400
keep = 40
generations = 2
seed = 3
"#;

/// A folder with the problem, failing once in `fail` simulations.
fn bench(fail: i32) -> Bench {
    let bench = Bench::new(&PROBLEM.replace("\"0\"", &format!("\"{fail}\"")));
    bench.write("simulate.py", SIMULATOR);
    bench
}

#[test]
fn the_posterior_is_right_and_the_same_on_any_number_of_threads() {
    for (fail, failed) in [(0, 0..1), (40, 8..40)] {
        let bench = bench(fail);
        let run = |threads: &str| {
            let words = ["run", "p.toml", "--json", "--threads", threads, "--into", threads];
            bench.run(&words).exits(0).json()
        };
        let (one, three) = (run("1"), run("3"));
        // The density is as theta to the power -11 above the largest of ten: the median is 2^(1/10) times that.
        let median = one["parameters"]["theta"]["median"].as_f64().unwrap();
        assert!((median / (9.7 * 2f64.powf(0.1)) - 1.0).abs() < 0.08, "{median}");
        assert!(failed.contains(&one["failed"].as_u64().unwrap()), "{}", one["failed"]);
        for key in ["parameters", "failed", "distance_weights", "information"] {
            assert_eq!(one[key], three[key]);
        }
        let posterior = |folder: &str| fs::read(bench.path(folder).join("posterior.parquet")).unwrap();
        assert!(posterior("1") == posterior("3"));
    }
}

/// What a program said is shown in its own lines, and not as a paragraph.
#[test]
fn last_words_keep_their_lines() {
    let bench = bench(40);
    let trace = "print(\"Traceback:\\n  File a.py, line 3\\nunlucky seed\", request[\"seed\"], file=sys.stderr, flush=True)";
    let said = "print(\"unlucky seed\", request[\"seed\"], file=sys.stderr, flush=True)";
    bench.write("simulate.py", SIMULATOR.replace(said, trace));
    let done = bench.run(&["run", "p.toml", "--set", "method.weighting=uniform"]).exits(0).stdout;
    let words = "its last words:\n      Traceback:\n        File a.py, line 3\n      unlucky seed ";
    assert!(
        done.replace("\n  words:", " words:").replace("\n  last words:", " last words:").contains(words),
        "{done}"
    );
}

#[test]
fn init_overwrites_nothing() {
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("mine")).unwrap();
    program(here.path(), &["init", "mine"]).exits(2).says("nothing is overwritten");
    assert_eq!(fs::read_dir(here.path().join("mine")).unwrap().count(), 0);
    program(here.path(), &["init", ".."]).exits(2).says("is not a name for a folder");
    program(here.path(), &["init", "a/b", "--template", "perl"]).exits(2).says("possible values: death");
    program(here.path(), &["init", "a/b"]).exits(0);
    let text = fs::read_to_string(here.path().join("a/b/problem.toml")).unwrap();
    assert!(text.contains("\nname = \"b\"\n"), "{text}");
}

/// The words after `this repeats the example: counterpoise`, of which none needs a shell here.
fn repeated(said: &str) -> Vec<&str> {
    let line =
        said.lines().find_map(|line| line.strip_prefix("hint: this repeats the example: counterpoise "));
    line.unwrap_or_else(|| panic!("no command to repeat:\n{said}")).split_whitespace().collect()
}

#[test]
fn the_first_failure_may_end_a_run() {
    let bench = bench(9);
    let words = ["run", "p.toml", "--threads", "2", "--set", "model.command.failures=stop"];
    let done = bench.run(&words).exits(1).says("error: the run cannot go on").says("unlucky seed");
    // One seed in nine: some went well before it.
    assert!(done.stderr.contains("1 of ") && !done.stderr.contains("1 of 1 simulations"), "{}", done.stderr);
    let again = bench.run(&repeated(&done.stderr)).exits(1);
    // The same parameters and seed fail in the same way.
    let reason = |said: &str| {
        let begin = said.find("simulator failed: it exited with code 9 without an answer; seed ").unwrap();
        said[begin..].lines().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(reason(&done.stderr), reason(&again.stderr));
    assert_eq!(reason(&done.stderr)[1].trim(), {
        let seed = done.stderr.split("; seed ").nth(1).unwrap().split(';').next().unwrap();
        format!("unlucky seed {seed}")
    });
}

#[test]
fn a_hopeless_run_ends_early() {
    // Every one fails.
    let always = bench(1);
    for command in [&["run", "p.toml"][..], &["simulate", "p.toml", "--rows", "100"]] {
        always
            .run(command)
            .exits(1)
            .says("10 of 10 simulations failed; for example row 0")
            .says("unlucky seed");
    }
    let done = always.run(&["check", "p.toml"]).exits(1);
    assert!(
        done.stdout.contains(" of them failed") && done.stdout.contains("unlucky seed"),
        "{}",
        done.stdout
    );
    // One in two fails: too many where a tenth is borne, and not where most may fail.
    let often = bench(2);
    often
        .run(&["run", "p.toml", "--set", "model.command.max_failures=0.1"])
        .exits(1)
        .says(" of 50 simulations failed");
    let mut words = vec!["run", "p.toml", "--json", "--into", "d"];
    for set in
        ["model.command.max_failures=0.9", "method.simulations=120", "method.keep=20", "method.generations=1"]
    {
        words.extend(["--set", set]);
    }
    // 60 of 120, four standard deviations allowed.
    let failed = often.run(&words).exits(0).json()["failed"].as_u64().unwrap();
    assert!((38..=82).contains(&failed), "{failed}");
}

#[test]
fn one_row_is_repeated_with_its_own_seed() {
    let bench = bench(0);
    let all = bench.run(&["simulate", "p.toml", "--rows", "30"]).exits(0).stdout;
    let row = all.lines().nth(18).unwrap();
    let at = format!("theta={}", row.split(',').next().unwrap());
    let one = bench.run(&["simulate", "p.toml", "--row", "17", "--at", &at]).exits(0).stdout;
    assert_eq!(one.lines().nth(1), Some(row));
}

#[test]
fn a_changed_simulator_is_another_run() {
    let bench = bench(0);
    bench.write("more.txt", "1");
    let run = ["run", "p.toml", "--into", "d", "--set", "model.command.files=[\"more.txt\"]"];
    bench.run(&run).exits(0);
    bench.run(&run).exits(0).says("already finished");
    bench.write("more.txt", "2");
    bench.run(&run).exits(2).says("model.command.files.more.txt was");
    bench.write("more.txt", "1");
    bench.write("simulate.py", SIMULATOR.replace("range(10)", "range(11)"));
    bench.run(&run).exits(2).says("model.command.files.simulate.py was");
    // What bears on no result may change.
    bench.write("simulate.py", SIMULATOR);
    let other = [&run[..], &["--set", "model.command.max_failures=0.2"]].concat();
    bench.run(&other).exits(0).says("already finished");
}

#[test]
fn mistakes_are_pointed_at() {
    let bench = bench(0);
    let line = "run = [\"python3\", \"simulate.py\", \"0\", \"\"]";
    let with = |text: &str| PROBLEM.replace(line, text);
    for (text, says) in [
        ("timeout = 3", "`model.command.run` is missing"),
        ("run = \"python3 simulate.py\"", "`model.command.run` must be a list of texts, found text"),
        ("run = []", "`model.command.run` must be a list of texts, the first of them not empty"),
        (
            "run = [\"python3\", 3]",
            "`model.command.run` must be a list of texts, the first of them not empty",
        ),
        ("run = [\"no-such-program\"]", "a file beside the problem file is written \"./no-such-program\""),
        ("run = [\"./simulate.py\"]", "make it executable with chmod +x"),
        ("run = [\"python3\", \"nowhere.py\"]", "can't open file"),
        ("run = [\"echo\", \"hello\"]", "did not greet as it should: `hello` is not {\"ready\": true"),
        (
            "run = [\"echo\", '{\"ready\": true, \"statistics\": [\"theta\"]}']",
            "`theta` is a parameter and a statistic",
        ),
        (&format!("{line}\nprotocol = \"one\""), "must be one of lines, once, found `one`"),
        (&format!("{line}\nprotocol = \"once\""), "the parameter `theta` does not occur in `run`"),
        (&format!("{line}\ntimeout = 0"), "must be a number of seconds above 0"),
        (&format!("{line}\nfailures = \"ignore\""), "must be one of reject, stop"),
        (&format!("{line}\nmax_failures = 20"), "must be a share between 0 and 1, found 20"),
        (&format!("{line}\nfailures = \"stop\"\nmax_failures = 0.2"), "`max_failures` has no use here"),
        (&format!("{line}\nfiles = [\"nowhere.txt\"]"), "cannot read ./nowhere.txt"),
        (&format!("{line}\nstatistics = [\"a\", \"a\"]"), "`a` is there twice"),
        (&format!("{line}\ntime_out = 3"), "did you mean `timeout`?"),
        ("run = [\"false\"]\nprotocol = \"once\"\nfiles = []", "`theta` does not occur"),
        (
            "run = [\"sh\", \"-c\", \"exit 3\", \"{theta}\"]\nprotocol = \"once\"",
            "fails at every trial: it exited with code 3",
        ),
    ] {
        bench.write("q.toml", with(text));
        bench.run(&["check", "q.toml"]).exits(2).says(says).says("--> q.toml:");
    }
}

#[test]
fn data_can_be_made_by_the_program() {
    let bench = bench(0);
    bench.write(
        "q.toml",
        PROBLEM.replace("values = { mean = 4.9, largest = 9.7 }", "truth = { theta = 10 }\nseed = 1"),
    );
    let run = bench.run(&["run", "q.toml", "--json"]).exits(0).json();
    let median = run["parameters"]["theta"]["median"].as_f64().unwrap();
    assert!((7.0..14.0).contains(&median), "{median}");
}

/// A long run whose two programs note their numbers in a folder.
fn start(bench: &Bench, fail: &str) -> Child {
    fs::create_dir(bench.path("pids")).unwrap();
    let run = format!("model.command.run=[\"python3\", \"simulate.py\", \"{fail}\", \"pids\"]");
    Command::new(env!("CARGO_BIN_EXE_counterpoise"))
        .current_dir(bench.folder.path())
        .args(["run", "p.toml", "--threads", "2", "--set", &run, "--set", "method.simulations=10_000_000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The numbers of its programs, once so many are there and at work.
fn programs(bench: &Bench, least: usize) -> Vec<String> {
    let begin = Instant::now();
    loop {
        let names = fs::read_dir(bench.path("pids")).unwrap();
        let names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        if names.len() >= least {
            std::thread::sleep(Duration::from_millis(200));
            return names;
        }
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(name: &str, child: &Child) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[track_caller]
fn are_gone(pids: &[String]) {
    let begin = Instant::now();
    for pid in pids {
        let state = || Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap().stdout;
        while !(state().is_empty() || state().starts_with(b"Z")) {
            assert!(begin.elapsed() < Duration::from_secs(5), "process {pid} is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Programs see the end of their input when we are killed.
#[test]
fn a_killed_run_leaves_no_program_behind() {
    let bench = bench(0);
    let mut child = start(&bench, "0");
    let pids = programs(&bench, 2);
    signal("-KILL", &child);
    child.wait().unwrap();
    are_gone(&pids);
}

/// Where nobody heeds an interrupt it ends the command, with its programs: while it checks, and while it loads a problem
/// whose program does not greet.
#[test]
fn an_interrupt_leaves_no_program_behind_in_any_command() {
    for (fail, command) in [("-1", "check"), ("-1", "simulate"), ("late", "run"), ("late", "simulate")] {
        let bench = bench(0);
        bench.write("simulate.py", SIMULATOR.replace("print(json.dumps({\"ready\"", GREETS));
        fs::create_dir(bench.path("pids")).unwrap();
        let run = format!("model.command.run=[\"python3\", \"simulate.py\", \"{fail}\", \"pids\"]");
        let single = ["--row", "1", "--at", "theta=2"];
        let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
            .current_dir(bench.folder.path())
            .args([command, "p.toml", "--set", &run])
            .args(single.iter().filter(|_| command == "simulate"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pids = programs(&bench, 1);
        signal("-INT", &child);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{command}, {fail}");
        are_gone(&pids);
    }
}

/// Programs that hang see nothing, and are ended by us: what they are at is not waited for.
#[test]
fn an_interrupt_ends_programs_that_hang() {
    let bench = bench(0);
    let mut child = start(&bench, "-1");
    let pids = programs(&bench, 2);
    signal("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    are_gone(&pids);
}
