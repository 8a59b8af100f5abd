//! The limit on the number of reactions, and amounts at time 0.

use super::*;

/// Deaths only: as many events as there are particles, once all are dead.
fn deaths(kind: &str, initial: f64, max_events: u64) -> Simulation {
    let others: Vec<String> = (0..520).map(|i| format!("Z{i} -> 0 @ k")).collect();
    let text = match kind {
        "Lanes" => "A -> 0 @ k".to_owned(),
        "Next" => format!("A -> 0 @ k\n{}", others.join("\n")),
        _ => "A -> 0 @ { k * A * (1 + time) }".to_owned(),
    };
    let simulation = observing(network(&text, &["k"], &[("A", initial)]), &[1000.0], Some(max_events));
    assert_eq!(engine(&simulation), kind);
    simulation
}

/// As many events as are allowed are fine, and one more is not, in every lane. A multiple of the events between two
/// looks (4,096), and one more or less, is nothing special.
#[test]
fn one_event_more_than_allowed_is_a_failure() {
    for kind in ["Lanes", "Next", "Timed"] {
        for events in [1, 10, 4_095, 4_096, 4_097, 9_000] {
            for (most, fits) in [(events, true), (events - 1, false)] {
                let simulation = deaths(kind, events as f64, most);
                // Different speeds, so that rows end one by one and others take their lanes.
                let thetas = Table::from_rows(1, (0..20).map(|row| 1.0 + f64::from(row % 7)).collect());
                let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first: 0 };
                let chunk = simulate_rows(&simulation, &jobs, &(0..20).collect::<Vec<_>>());
                let why = format!("it takes more than max_events = {most} reactions");
                let expected = if fits { Ok(()) } else { Err(Failure::Declined(why)) };
                for (row, outcome) in chunk.outcomes.iter().enumerate() {
                    assert_eq!(*outcome, expected, "{kind}: {events} events of {most}, row {row}");
                }
            }
        }
    }
}

/// Without a limit on events, a trajectory without end would be one.
#[test]
fn the_limit_ends_what_would_not_end() {
    let text = "A <-> B @ k, k";
    let simulation = observing(network(text, &["k"], &[("A", 100.0)]), &[1e6], Some(50_000));
    assert_eq!(declined(&simulation, &[1e3]), "it takes more than max_events = 50000 reactions");
}

#[test]
fn amounts_at_time_0_come_from_parameters_and_are_rounded() {
    let mut network = network("A -> 0 @ 0", &["n"], &[("A", 0.0), ("B", 0.0)]);
    network.species[0].initial = Expression::parameter(0);
    network.species[1].initial = expression(&network, "n / 4");
    let simulation = observing(network, &[0.0], None);
    // No reaction changes B.
    for (n, a) in [(0.0, 0.0), (9.4, 9.0), (9.6, 10.0), (2.5, 3.0), (-0.3, 0.0), (1e15, 1e15)] {
        let row = one(&simulation, &[n]).unwrap();
        assert_eq!(row, [a, n / 4.0], "{n}");
        assert!(row[0].is_sign_positive());
    }
    assert_eq!(declined(&simulation, &[-1.0]), "A cannot be -1 at time 0");
    assert_eq!(declined(&simulation, &[1e16]), "A cannot be 10000000000000000 at time 0");
}
