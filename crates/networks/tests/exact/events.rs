//! Events: their exact moments, and which goes first.

use super::*;
use counterpoise_networks::Event;

/// An event that happens when its trigger becomes true, as early and as plainly as can be.
fn event(network: &Network, trigger: &str, assignments: &[(usize, &str)]) -> Event {
    Event {
        name: trigger.into(),
        trigger: expression(network, trigger),
        initially: true,
        priority: None,
        persistent: true,
        values_from_trigger_time: false,
        assignments: assignments.iter().map(|&(to, value)| (to, expression(network, value))).collect(),
    }
}

/// Two species that only events change.
fn still() -> Network {
    network("", &["k"], &[("X", 1.0), ("Y", 0.0)])
}

fn with(mut network: Network, events: &[Event], times: &[f64]) -> Simulation {
    network.events = events.to_vec();
    let simulation = observing(network, times, None);
    assert_eq!(engine(&simulation), "Timed");
    simulation
}

#[test]
fn events_happen_at_their_moment() {
    let times = [0.0, 2.0, 2.5, 2.501, 4.0];
    let network = still();
    let at = |trigger: &str| {
        let event = event(&network, trigger, &[(0, "X + 10 * time"), (1, "Y + 1")]);
        one(&with(network.clone(), &[event], &times), &[2.5]).unwrap()
    };
    // At the moment itself the event has happened.
    assert_eq!(at("time >= k"), [1.0, 1.0, 26.0, 26.0, 26.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    // Later than the moment, if only by the last bit.
    let later = at("time > k");
    assert_eq!(later[..3], [1.0, 1.0, 1.0]);
    assert!((later[3] - 26.0).abs() < 1e-12 && later[8] == 1.0);
    // One that was true all along does not become so.
    assert_eq!(at("time < k")[5..], [0.0; 5]);
    assert_eq!(at("time >= 100")[5..], [0.0; 5]);
}

#[test]
fn events_happen_again_whenever_their_condition_does() {
    let network = still();
    let again = event(&network, "sin(time) > 0.5", &[(1, "Y + 1")]);
    let turn = std::f64::consts::TAU;
    let first = turn / 12.0;
    let times: Vec<f64> =
        (0..5).flat_map(|n| [-1e-4, 1e-4].map(|by| first + f64::from(n) * turn + by)).collect();
    let row = one(&with(network, &[again], &times), &[0.0]).unwrap();
    assert_eq!(row[10..], [0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0]);
}

#[test]
fn before_time_0_a_trigger_counts_as_said() {
    let network = still();
    let mut early = event(&network, "X > 0", &[(1, "7")]);
    assert_eq!(
        one(&with(network.clone(), std::slice::from_ref(&early), &[0.0, 1.0]), &[0.0]).unwrap()[2..],
        [0.0; 2]
    );
    early.initially = false;
    assert_eq!(one(&with(network, &[early], &[0.0, 1.0]), &[0.0]).unwrap()[2..], [7.0; 2]);
}

#[test]
fn of_events_at_one_moment_the_highest_priority_goes_first() {
    let network = still();
    let run = |priorities: [Option<&str>; 2], from_trigger: bool| {
        let mut events =
            [event(&network, "time >= 1", &[(0, "2 * X")]), event(&network, "time >= 1", &[(0, "X + 3")])];
        for (event, priority) in events.iter_mut().zip(priorities) {
            event.priority = priority.map(|priority| expression(&network, priority));
            event.values_from_trigger_time = from_trigger;
        }
        one(&with(network.clone(), &events, &[0.5, 1.5]), &[4.0]).unwrap()[1]
    };
    assert_eq!(run([None, None], false), 5.0);
    assert_eq!(run([Some("1"), Some("1")], false), 5.0);
    assert_eq!(run([Some("1"), Some("2")], false), 8.0);
    assert_eq!(run([Some("k"), Some("X")], false), 5.0);
    assert_eq!(run([None, Some("-5")], false), 8.0);
    // With the values of the moment of the trigger, the last to go wins.
    assert_eq!(run([Some("2"), Some("1")], true), 4.0);
    assert_eq!(run([Some("1"), Some("2")], true), 2.0);
}

#[test]
fn an_event_that_does_not_persist_is_called_off() {
    let network = still();
    for (persistent, expected) in [(true, 9.0), (false, 0.0)] {
        let mut first = event(&network, "time >= 1", &[(0, "0")]);
        first.priority = Some(expression(&network, "1"));
        let mut second = event(&network, "time >= 1 and X > 0.5", &[(1, "9")]);
        second.priority = Some(expression(&network, "0"));
        second.persistent = persistent;
        let row = one(&with(network.clone(), &[second, first], &[0.5, 1.5]), &[0.0]).unwrap();
        assert_eq!(row, [1.0, 0.0, 0.0, expected]);
    }
}

#[test]
fn an_event_sets_off_another() {
    let network = still();
    let events = [event(&network, "X > 4", &[(1, "100 * X")]), event(&network, "time >= 1", &[(0, "X + 4")])];
    let row = one(&with(network.clone(), &events, &[0.5, 1.0, 2.0]), &[0.0]).unwrap();
    assert_eq!(row, [1.0, 5.0, 5.0, 0.0, 500.0, 500.0]);
    // Two that set each other off would never end.
    let events = [
        event(&network, "time >= 1 and X < 2", &[(0, "3")]),
        event(&network, "time >= 1 and X > 2", &[(0, "1")]),
    ];
    let why = declined(&with(network, &events, &[0.5, 2.0]), &[0.0]);
    assert!(why.ends_with("go on without end"), "{why}");
}

/// Births that begin anew at ten: the remainder of a Poisson count.
#[test]
fn reactions_set_off_events() {
    let mut network = network("0 -> X @ k", &["k"], &[("Y", 0.0)]);
    let reset = event(&network, "X >= 10", &[(0, "0"), (1, "Y + 1")]);
    network.events = vec![reset];
    let (times, rate) = ([0.5, 1.0, 3.0], 9.0);
    let table = many(&observing(network, &times, None), &[rate], 20_000);
    for (at, time) in times.into_iter().enumerate() {
        let mut weight = f64::exp(-rate * time);
        let (mut rest, mut tens) = ([0.0; 10], [0.0; 30]);
        for n in 0..300 {
            rest[n % 10] += weight;
            tens[(n / 10).min(29)] += weight;
            weight *= rate * time / (n + 1) as f64;
        }
        agree(&format!("X at {time}"), &table.column(at), of_counts(&rest));
        agree(&format!("Y at {time}"), &table.column(3 + at), of_counts(&tens));
    }
}

/// All that are alive at time 1 die, and births go on: Poisson with the births since.
#[test]
fn events_cut_into_reactions_at_their_moment() {
    let mut network = network("0 -> X @ k", &["k"], &[]);
    network.events = vec![event(&network, "time >= 1", &[(0, "0")])];
    let times = [0.75, 1.0, 1.5, 4.0];
    let table = many(&observing(network, &times, None), &[6.0], 20_000);
    for (at, since) in [0.75, 0.0, 0.5, 3.0].into_iter().enumerate() {
        agree(&format!("at {}", times[at]), &table.column(at), poisson(6.0 * since));
    }
}

#[test]
fn what_an_event_cannot_set_is_declined() {
    let mut network = network("0 -> X @ k", &["k"], &[]);
    for (value, said) in [("-3", "-3"), ("1 / 0", "inf")] {
        network.events = vec![event(&network, "time >= 1", &[(0, value)])];
        let why = declined(&observing(network.clone(), &[2.0], None), &[1.0]);
        assert_eq!(why, format!("the event time >= 1 would set X to {said}"));
    }
}

/// A comparison with what is no number does not hold, and nobody waits for it bit by bit.
#[test]
fn conditions_on_what_is_no_number_do_not_hold() {
    let network = still();
    let never = event(&network, "time > 0.5 and Y / Y > 2", &[(0, "7")]);
    let later = event(&network, "time >= 2", &[(1, "1")]);
    let row = one(&with(network, &[never, later], &[0.4, 1.0, 3.0]), &[1.0]).unwrap();
    assert_eq!(row, [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
}
