//! The protocol `once`.

use std::ops::ControlFlow;

use counterpoise_run::command::{Once, ProgramError};
use counterpoise_run::executor::{Executor, Threads};

use super::{Pids, fails_where_it_should, jobs, program, run, thetas};

/// A program that notes its number, prints what it should for a good seed, and for a bad one does as told.
fn script(bad: &str) -> String {
    format!(
        "folder=$1 k=$2 seed=$3\n\
         : > $folder/$$\n\
         echo last words of $seed >&2\n\
         if [ $((seed % 4)) = 0 ]; then {bad}; fi\n\
         echo a b\n\
         echo $((seed % 1000)) $k\n"
    )
}

#[track_caller]
fn fails(bad: &str, timeout: f64, texts: &[&str]) {
    let script = script(bad);
    let all = [1, 3].map(|threads| {
        let pids = Pids::new();
        let words = ["sh", "-c", &script, "sh", pids.path().to_str().unwrap(), "{k}", "{seed}"];
        let simulator = Once::new(program(&words, timeout), vec!["a".into(), "b".into()]).unwrap();
        let outcomes = run(&simulator, threads);
        pids.are_gone();
        assert!(pids.count() >= outcomes.len() - 2, "one process a simulation (numbers may come again)");
        outcomes
    });
    fails_where_it_should(&all[0], texts);
    assert_eq!(all[0], all[1]);
}

#[test]
fn every_way_to_fail() {
    fails("kill -SEGV $$", 20.0, &["it was ended by signal 11", "last words of"]);
    fails("exit 3", 20.0, &["it exited with code 3", "last words of"]);
    fails("sleep 1000", 1.0, &["it gave no answer within 1 s", "last words of"]);
    fails("echo hello", 20.0, &["`hello a b ", "is not one line of numbers, or a header"]);
    fails("echo 1 2 3; exit", 20.0, &["it answered 3 statistics and not 2"]);
    fails("echo 1 nan; exit", 20.0, &["the statistic `b` is not a finite number"]);
    fails("echo b a; echo 1 2; exit", 20.0, &["its header has other names"]);
    fails("head -c 10000000 /dev/zero; exit", 20.0, &["said more than"]);
    // It has closed its output, and complains more than fits into a pipe before it exits.
    fails("exec >&-; head -c 1000000 /dev/zero >&2; exit 7", 20.0, &["it exited with code 7"]);
    // Somebody who holds the output open, and is not waited for.
    fails("sleep 1000 & exit 6", 20.0, &["it exited with code 6"]);
}

/// A program that has closed its output and does not exit is not waited for when the run stops.
#[test]
fn a_stop_does_not_wait_for_an_exit() {
    let words = ["sh", "-c", "exec >&-; sleep 1000", "sh", "{k}", "{seed}"];
    let simulator = Once::new(program(&words, 60.0), vec!["a".into(), "b".into()]).unwrap();
    let (draws, begin) = (thetas(), std::time::Instant::now());
    let mut sink = |_| {
        // Time enough for the output to be closed.
        if begin.elapsed().as_secs() < 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    Threads::new(&simulator, 2, None).run(jobs(&draws), &[0, 1, 2], &mut sink).unwrap();
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn names_are_learned_from_a_trial() {
    let draws = thetas();
    let learn = |text: &str, parameters: &[&str]| {
        let words = [&["sh", "-c", text, "sh"][..], parameters].concat();
        Once::learn(program(&words, 5.0), draws.iter())
    };
    assert_eq!(learn("echo 1 2 $1", &["{k}"]).unwrap().statistics(), ["s1", "s2", "s3"]);
    assert_eq!(learn("echo x,y; echo 1,$1", &["{k}"]).unwrap().statistics(), ["x", "y"]);
    // The first draw is 1/3: a program may fail there and nowhere else.
    let picky = "case $1 in 0.3333*) exit 9;; esac; echo x; echo $1";
    assert_eq!(learn(picky, &["{k}"]).unwrap().statistics(), ["x"]);
    let error = learn("echo what a pity >&2; exit 4", &[]).unwrap_err().to_string();
    assert!(
        error.contains(
            "`sh` fails at every trial: it exited with code 4; seed 1; its last words:\n    what a pity"
        ),
        "{error}"
    );
    let error = Once::learn(program(&["no-such-program"], 1.0), draws.iter()).unwrap_err();
    assert!(matches!(error, ProgramError::Start { .. }), "{error}");
}
