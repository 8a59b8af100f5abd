//! Leaps against closed forms, conservation laws and exact simulation.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::table::Table;

use crate::{
    Counting, Event, Expression, Function, Method, Network, NetworkError, Observable, Observation, Rate,
    Reaction, Simulation, Species, Symbol, Times,
};

const EPSILON: Method = Method::TauLeaping { epsilon: 0.05 };

fn reaction(constant: usize, reactants: &[(usize, u32)], changes: &[(usize, f64)]) -> Reaction {
    let constant = Expression::parameter(constant);
    let (reactants, counting) = (reactants.to_vec(), Counting::Combinations);
    let rate = Rate::MassAction { constant, reactants, counting };
    Reaction { name: "R".into(), changes: changes.to_vec(), rate }
}

/// A network of species A, B, ... with these amounts and parameters k1, k2, ...
fn network(initial: &[f64], parameters: usize, reactions: Vec<Reaction>) -> Network {
    let species =
        ('A'..).zip(initial).map(|(name, &amount)| Species { name: name.into(), initial: amount.into() });
    Network {
        parameters: (1..=parameters).map(|at| format!("k{at}")).collect(),
        species: species.collect(),
        reactions,
        ..Network::default()
    }
}

/// All species at `times`.
fn simulation(network: Network, times: &[f64], method: Method) -> Result<Simulation, NetworkError> {
    let observable = |at: usize| Observable {
        name: network.species[at].name.clone(),
        value: Expression::species(at),
        noise: None,
        once: false,
    };
    let observables = (0..network.species.len()).map(observable).collect();
    let times = Times::new(times.to_vec()).unwrap();
    Simulation::new(network, Observation { times, observables }, method, None)
}

fn row(simulation: &Simulation, theta: &[f64], row: u64) -> Result<Vec<f64>, Failure> {
    let mut summaries = vec![f64::NAN; simulation.summaries()];
    let mut rng = Seed(5).stream(Stage::Simulate, 0, row);
    simulation.simulate(theta, &mut rng, &mut summaries).map(|()| summaries)
}

fn dimerization(initial: f64) -> Network {
    let reactions = vec![
        reaction(0, &[(0, 1)], &[(0, -1.0)]),
        reaction(1, &[(1, 1)], &[(1, -1.0), (2, 1.0)]),
        reaction(2, &[(0, 2)], &[(0, -2.0), (1, 1.0)]),
        reaction(3, &[(1, 1)], &[(0, 2.0), (1, -1.0)]),
    ];
    network(&[initial, 0.0, 0.0], 4, reactions)
}

const TRUTH: [f64; 4] = [1.0, 0.04, 0.002, 0.5];

/// Mean and variance of one summary over `rows` rows.
fn moments(simulation: &Simulation, theta: &[f64], rows: u64, summary: usize) -> (f64, f64) {
    let values: Vec<f64> = (0..rows).map(|at| row(simulation, theta, at).unwrap()[summary]).collect();
    let mean = values.iter().sum::<f64>() / rows as f64;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / rows as f64)
}

#[test]
fn amounts_stay_whole_and_above_zero_and_what_is_conserved_is() {
    let times: Vec<f64> = (0..=60).map(f64::from).collect();
    let leaping = simulation(dimerization(1e5), &times, EPSILON).unwrap();
    for at in 0..20 {
        let decaying = row(&leaping, &TRUTH, at).unwrap();
        assert!(decaying.iter().all(|&amount| amount >= 0.0 && amount.fract() == 0.0));
        let closed = row(&leaping, &[0.0, 0.04, 0.002, 0.5], at).unwrap();
        let n = times.len();
        for t in 0..n {
            assert_eq!(closed[t] + 2.0 * (closed[n + t] + closed[2 * n + t]), 1e5, "row {at}, time {t}");
        }
    }
}

/// Death from 10^6 against the binomial law. The trapezoidal rule takes the share that is left after a step h to be
/// 1 - h + h^2 / 2 instead of exp(-h): with h <= 0.05, a relative error of the mean below h^2 / 6 = 4e-4 a unit of
/// time, and less than that of the variance times a small number. Besides five standard errors: one false alarm in
/// a million, and the seeds are fixed.
#[test]
fn a_linear_death_is_binomial_within_the_bias_of_a_leap() {
    let leaping =
        simulation(network(&[1e6], 1, vec![reaction(0, &[(0, 1)], &[(0, -1.0)])]), &[0.5, 1.0], EPSILON);
    let leaping = leaping.unwrap();
    let rows = 4_000;
    for (summary, t) in [(0, 0.5), (1, 1.0)] {
        let (mean, variance) = moments(&leaping, &[1.0], rows, summary);
        let left = libm::exp(-t);
        let (expected, spread) = (1e6 * left, 1e6 * left * (1.0 - left));
        let bias = 4e-4 * t * expected;
        assert!((mean - expected).abs() < bias + 5.0 * (spread / rows as f64).sqrt(), "{mean}, {expected}");
        let error = 5.0 * (2.0 / rows as f64).sqrt();
        assert!((variance / spread - 1.0).abs() < 0.01 + error, "{variance}, {spread}");
    }
}

/// Where nothing can be leapt over, every bit is that of exact simulation.
#[test]
fn small_populations_are_simulated_exactly() {
    let times: Vec<f64> = (0..=20).map(f64::from).collect();
    let of = |initial, method| simulation(dimerization(initial), &times, method).unwrap();
    for initial in [10.0, 300.0] {
        let (leaping, exact) = (of(initial, EPSILON), of(initial, Method::Direct));
        for at in 0..50 {
            assert_eq!(row(&leaping, &TRUTH, at), row(&exact, &TRUTH, at), "from {initial}, row {at}");
        }
    }
    assert_ne!(row(&of(1e5, EPSILON), &TRUTH, 0), row(&of(1e5, Method::Direct), &TRUTH, 0));
}

/// Death from 10 against the binomial law: five standard errors, one false alarm in a million, fixed seeds.
#[test]
fn a_small_death_is_binomial() {
    let reactions = vec![reaction(0, &[(0, 1)], &[(0, -1.0)])];
    let leaping = simulation(network(&[10.0], 1, reactions), &[0.7], EPSILON).unwrap();
    let (mean, variance) = moments(&leaping, &[1.0], 100_000, 0);
    let left = libm::exp(-0.7);
    let spread = 10.0 * left * (1.0 - left);
    assert!((mean - 10.0 * left).abs() < 5.0 * (spread / 1e5).sqrt(), "{mean}");
    assert!((variance / spread - 1.0).abs() < 5.0 * (2.0 / 1e5f64).sqrt(), "{variance}");
}

/// A chain of more reactions than lanes are for, so that the next reaction method leaps: 10^6 drift down it, and their total stays.
/// The first of them is a death, as above.
#[test]
fn larger_networks_leap_too() {
    let steps = (0..200).map(|at| reaction(0, &[(at, 1)], &[(at, -1.0), (at + 1, 1.0)]));
    let mut initial = [0.0; 201];
    initial[0] = 1e6;
    let leaping = simulation(network(&initial, 1, steps.collect()), &[1.0], EPSILON).unwrap();
    for at in 0..20 {
        let amounts = row(&leaping, &[1.0], at).unwrap();
        assert_eq!(amounts.iter().sum::<f64>(), 1e6);
        assert!(amounts.iter().all(|&amount| amount >= 0.0 && amount.fract() == 0.0));
        let left = libm::exp(-1.0);
        let error = 4e-4 * 1e6 * left + 5.0 * (1e6 * left * (1.0 - left)).sqrt();
        assert!((amounts[0] - 1e6 * left).abs() < error, "{}", amounts[0]);
    }
}

/// Rows of a table, from the first to the last.
struct Rows(std::ops::Range<usize>, Vec<Option<Vec<f64>>>);

impl Feed for Rows {
    fn next(&mut self) -> Option<usize> {
        self.0.next()
    }

    fn finish(&mut self, row: usize, summaries: &[f64], outcome: Result<(), Failure>) {
        self.1[row] = outcome.ok().map(|()| summaries.to_vec());
    }
}

#[test]
fn a_row_is_the_same_alone_and_among_others() {
    let leaping = simulation(dimerization(1e5), &[0.1, 1.0, 30.0, 60.0], EPSILON).unwrap();
    let factors = (0..40).flat_map(|at| TRUTH.map(|constant| constant * (0.3 + 0.1 * f64::from(at % 13))));
    let thetas = Table::from_rows(4, factors.collect());
    let mut together = Rows(0..40, vec![None; 40]);
    let jobs = Jobs { thetas: &thetas, seed: Seed(5), generation: 0, first: 0 };
    leaping.simulate_rows(&jobs, &mut together);
    for at in 0..40 {
        assert_eq!(together.1[at], row(&leaping, thetas.row(at), at as u64).ok(), "row {at}");
    }
}

#[test]
fn a_leap_is_one_event_of_a_limit() {
    let times = || Times::new(vec![50.0]).unwrap();
    let with = |method, most| {
        let observables = Vec::new();
        let simulation = Simulation::new(
            dimerization(1e5),
            Observation { times: times(), observables },
            method,
            Some(most),
        );
        row(&simulation.unwrap(), &TRUTH, 0)
    };
    assert!(with(EPSILON, 100_000).is_ok());
    let too_many = Err(Failure::Declined("it takes more than max_events = 5000 reactions".into()));
    assert_eq!(with(EPSILON, 5_000), too_many);
    assert!(with(Method::Direct, 100_000).is_err());
}

/// Consumption at a rate that does not vanish ends in the failure that exact simulation has.
#[test]
fn what_fails_exactly_fails_in_leaps() {
    let rate = Rate::Expression(Expression::parameter(0));
    let constant = Reaction { name: "A =>".into(), changes: vec![(0, -1.0)], rate };
    let of = |method| simulation(network(&[1e5], 1, vec![constant.clone()]), &[1.0, 9.0], method).unwrap();
    let failure = row(&of(EPSILON), &[2e4], 0).unwrap_err();
    assert_eq!(failure, row(&of(Method::Direct), &[2e4], 0).unwrap_err());
    assert!(failure.to_string().contains("A fell below 0"), "{failure}");
}

#[test]
fn what_cannot_be_leapt_over_is_refused() {
    let refusal = |network, method| simulation(network, &[1.0], method).unwrap_err().to_string();
    for epsilon in [0.0, 1.0, -0.1, f64::NAN] {
        let said = refusal(dimerization(1e5), Method::TauLeaping { epsilon });
        assert_eq!(said, format!("the epsilon of tau-leaping must be above 0 and below 1, found {epsilon}"));
    }
    let mut eventful = dimerization(1e5);
    let time = || Expression::Symbol(Symbol::Time);
    eventful.events.push(Event {
        name: "dose".into(),
        trigger: Expression::call(Function::Less, [1.0.into(), time()]),
        initially: true,
        priority: None,
        persistent: true,
        values_from_trigger_time: true,
        assignments: vec![(0, 5.0.into())],
    });
    let said = refusal(eventful, EPSILON);
    let use_direct = "use simulator = \"direct\"";
    assert_eq!(
        said,
        format!("tau-leaping cannot simulate a network with events, such as `dose`; {use_direct}")
    );
    let mut timed = dimerization(1e5);
    timed.reactions[1].rate = Rate::Expression(time());
    let said = refusal(timed, EPSILON);
    let what = "rates that depend on time, such as that of `R`";
    assert_eq!(said, format!("tau-leaping cannot simulate {what}; {use_direct}"));
}
