//! The protocol `lines`.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use counterpoise_core::problem::Simulator;
use counterpoise_run::command::{Lines, ProgramError};
use counterpoise_run::executor::{Executor, Threads};

use super::{Outcomes, Pids, ROWS, fails_where_it_should, good, jobs, program, python, run, thetas};

fn start(mode: &str, pids: &Pids, timeout: f64) -> Result<Lines, ProgramError> {
    let folder = pids.path().to_str().unwrap();
    Lines::new(program(&[python(), "misbehaving.py", mode, folder], timeout), None)
}

/// What becomes of every row; the same on one and on three threads.
#[track_caller]
fn outcomes(mode: &str, timeout: f64) -> (Outcomes, usize) {
    let all = [1, 3].map(|threads| {
        let pids = Pids::new();
        let simulator = start(mode, &pids, timeout).unwrap();
        assert_eq!(simulator.statistics(), ["a", "b"]);
        let outcomes = run(&simulator, threads);
        drop(simulator);
        pids.are_gone();
        (outcomes, pids.count())
    });
    let [(one, processes), (three, _)] = all;
    assert_eq!(one, three);
    (one, processes)
}

#[test]
fn a_program_that_works_is_started_once_a_thread() {
    let pids = Pids::new();
    let simulator = start("good", &pids, 10.0).unwrap();
    assert_eq!(pids.count(), 1, "it is started early, for the names");
    for threads in [1, 3, 2] {
        let outcomes = run(&simulator, threads);
        assert_eq!(outcomes, (0..ROWS).map(|row| Ok(good(row))).collect::<Vec<_>>());
    }
    assert!(pids.count() <= 3, "{} processes", pids.count());
    // One row by itself, as `counterpoise simulate --row` asks for it.
    let (thetas, mut alone) = (thetas(), [0.0; 2]);
    simulator.simulate(thetas.row(5), &mut jobs(&thetas).stream(5), &mut alone).unwrap();
    assert_eq!(alone.to_vec(), good(5));
    drop(simulator);
    pids.are_gone();
}

#[test]
fn crashes() {
    let (outcomes, processes) = outcomes("crash", 10.0);
    fails_where_it_should(
        &outcomes,
        &["ended by signal 11 (SIGSEGV", "without an answer", "its last words:\n    last words of"],
    );
    assert!(processes > 3, "it was not started again");
}

#[test]
fn early_exits() {
    fails_where_it_should(
        &outcomes("exit", 10.0).0,
        &["exited with code 3 without an answer", "last words of"],
    );
}

#[test]
fn half_a_line_and_death() {
    let texts = ["exited with code 0 in the middle of an answer: `{\"id\":", "last words of"];
    fails_where_it_should(&outcomes("half", 10.0).0, &texts);
}

#[test]
fn hangs() {
    fails_where_it_should(&outcomes("hang", 1.0).0, &["gave no answer within 1 s", "last words of"]);
}

/// Neither the program nor what it has forked cares for SIGTERM.
#[test]
fn programs_that_do_not_want_to_end() {
    let (outcomes, processes) = outcomes("stubborn", 1.0);
    fails_where_it_should(&outcomes, &["gave no answer within 1 s"]);
    assert!(processes > 6, "it has not forked");
}

/// A program that dies while somebody it has started holds its output open is not waited for.
#[test]
fn orphans() {
    let start = Instant::now();
    fails_where_it_should(&outcomes("orphan", 60.0).0, &["exited with code 5 without an answer"]);
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn forks_are_ended_with_their_parent() {
    let (outcomes, processes) = outcomes("forks", 10.0);
    assert!(outcomes.iter().all(Result::is_ok));
    assert!(processes > ROWS);
}

#[test]
fn a_hundred_megabytes_without_an_end_of_line() {
    fails_where_it_should(
        &outcomes("flood", 60.0).0,
        &["said more than 65664 bytes", "`xxxxxxx", "last words of"],
    );
}

#[test]
fn a_flood_of_complaints_blocks_nobody() {
    let (outcomes, processes) = outcomes("noisy", 10.0);
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(processes, 1);
}

/// Complaints without an end do not keep us from looking at the clock.
#[test]
fn a_program_that_only_complains() {
    for threads in [1, 3] {
        let pids = Pids::new();
        let simulator = start("whines", &pids, 1.0).unwrap();
        let outcomes = run(&simulator, threads);
        fails_where_it_should(
            &outcomes,
            &["gave no answer within 1 s", "its last words:\n", "    oh dear\n    oh dear"],
        );
        drop(simulator);
        pids.are_gone();
    }
}

#[test]
fn answers_that_are_wrong_but_honest_cost_no_restart() {
    for (mode, text) in [
        ("nan", "the statistic `b` is not a finite number"),
        ("count", "it answered 1 statistics and not 2"),
        ("decline", "simulator declined: no such rate"),
    ] {
        let (outcomes, processes) = outcomes(mode, 10.0);
        fails_where_it_should(&outcomes, &[text, "its last words:\n    last words of"]);
        assert_eq!(processes, 1, "{mode}");
    }
}

#[test]
fn answers_that_cannot_be_trusted() {
    fails_where_it_should(&outcomes("garbage", 10.0).0, &["`Warning: convergence` is not {\"id\": ...,"]);
    fails_where_it_should(&outcomes("id", 10.0).0, &["its answer has the id 2 and not the id 1"]);
}

/// What a program has become by its earlier rows is no row's fault.
#[test]
fn worn_out_programs_are_replaced_at_no_cost() {
    for mode in ["leaks", "chats"] {
        let (outcomes, processes) = outcomes(mode, 10.0);
        assert_eq!(outcomes, (0..ROWS).map(|row| Ok(good(row))).collect::<Vec<_>>(), "{mode}");
        assert!(processes > 3, "{mode}");
    }
}

#[test]
fn greetings_that_cannot_be_used() {
    for (mode, text) in [
        (
            "gone",
            "exited with code 127 without an answer when it was started; its last words:\n    cannot find",
        ),
        ("twice", "its statistics cannot be used: `a` is there twice"),
        ("many", "there are 100001, more than 100000"),
        ("none", "there are none"),
    ] {
        let pids = Pids::new();
        let error = start(mode, &pids, 10.0).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
        pids.are_gone();
    }
    let pids = Pids::new();
    let mut program =
        program(&["sh", "-c", ": > $1/$$; exec sleep 1000", "sh", pids.path().to_str().unwrap()], 10.0);
    program.start_timeout = Duration::from_secs(1);
    let error = Lines::new(program.clone(), None).unwrap_err().to_string();
    assert!(error.contains("gave no answer within 1 s when it was started"), "{error}");
    pids.are_gone();
    // Named in the problem file they are not asked for before they are needed; then the rows fail.
    let simulator = Lines::new(program, Some(vec!["a".into()])).unwrap();
    let thetas = thetas();
    let failure = simulator.simulate(thetas.row(0), &mut jobs(&thetas).stream(0), &mut [0.0]).unwrap_err();
    assert!(failure.to_string().contains("gave no answer within 1 s when it was started"), "{failure}");
    pids.are_gone();
}

#[test]
fn other_names_than_those_of_the_problem_file() {
    let pids = Pids::new();
    let program = program(&[python(), "misbehaving.py", "good", pids.path().to_str().unwrap()], 10.0);
    let simulator = Lines::new(program, Some(vec!["b".into(), "a".into()])).unwrap();
    assert_eq!(pids.count(), 0, "nobody had to ask");
    let thetas = thetas();
    let failure = simulator.simulate(thetas.row(0), &mut jobs(&thetas).stream(0), &mut [0.0; 2]).unwrap_err();
    assert!(failure.to_string().contains("greeted with the statistics a, b and not b, a"), "{failure}");
    pids.are_gone();
}

#[test]
fn programs_that_cannot_be_started() {
    for word in ["no-such-program", "./no-such-program", "./misbehaving.py"] {
        let error = Lines::new(program(&[word], 1.0), None).unwrap_err();
        assert!(matches!(error, ProgramError::Start { .. }), "{error}");
    }
}

/// A break does not wait for a row that hangs.
#[test]
fn nobody_waits_for_what_is_not_wanted() {
    let pids = Pids::new();
    let simulator = start("hang", &pids, 1000.0).unwrap();
    let (thetas, began) = (thetas(), Instant::now());
    let rows: Vec<usize> = (0..ROWS).collect();
    let mut seen = 0;
    Threads::new(&simulator, 3, None)
        .run(jobs(&thetas), &rows, &mut |_| {
            seen += 1;
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    drop(simulator);
    assert!(began.elapsed() < Duration::from_secs(20));
    pids.are_gone();
}

/// Programs that go on after the end of their input, whatever they are told, are ended together.
#[test]
fn programs_that_do_not_hear_that_it_is_over() {
    let pids = Pids::new();
    let simulator = start("deaf", &pids, 10.0).unwrap();
    while pids.count() < 6 {
        assert!(run(&simulator, 8).iter().all(Result::is_ok));
    }
    let began = Instant::now();
    drop(simulator);
    let took = began.elapsed();
    assert!((Duration::from_secs(1)..Duration::from_secs(5)).contains(&took), "{took:?}");
    pids.are_gone();
}
