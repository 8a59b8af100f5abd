//! What the tests share: exact moments, reference posteriors, and what every simulator must do.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Jobs, simulate_rows};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::table::Table;

/// Mean, variance and fourth central moment of a law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    pub(crate) fourth: f64,
}

impl Moments {
    /// Of a law that gives each value its weight; the weights need not sum to 1.
    pub(crate) fn weighted(law: &[(f64, f64)]) -> Self {
        let total: f64 = law.iter().map(|(_, weight)| weight).sum();
        let average =
            |of: &dyn Fn(f64) -> f64| law.iter().map(|&(x, weight)| of(x) * weight).sum::<f64>() / total;
        let mean = average(&|x| x);
        let variance = average(&|x| (x - mean).powi(2));
        Self { mean, variance, fourth: average(&|x| (x - mean).powi(4)) }
    }

    /// Of a law on 0, 1, 2, ...
    pub(crate) fn of_counts(probabilities: &[f64]) -> Self {
        let law: Vec<_> = probabilities.iter().enumerate().map(|(count, &p)| (count as f64, p)).collect();
        Self::weighted(&law)
    }

    /// From the means of x, x^2, x^3 and x^4.
    pub(crate) fn from_raw(first: f64, second: f64, third: f64, fourth: f64) -> Self {
        let variance = second - first * first;
        let fourth = fourth - 4.0 * first * third + 6.0 * first * first * second - 3.0 * first.powi(4);
        Self { mean: first, variance, fourth }
    }
}

/// Probabilities of 0..=n successes.
pub(crate) fn binomial(n: usize, p: f64) -> Vec<f64> {
    sum_of_indicators(std::iter::repeat_n(p, n))
}

/// The law of a sum of independent events of the given probabilities.
pub(crate) fn sum_of_indicators(probabilities: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut law = vec![1.0];
    for p in probabilities {
        law.push(0.0);
        for count in (0..law.len()).rev() {
            let below = if count == 0 { 0.0 } else { law[count - 1] };
            law[count] = law[count] * (1.0 - p) + below * p;
        }
    }
    law
}

/// Rows 0, 1, ... of a generation at one theta, each from its own stream.
pub(crate) fn simulate(simulator: &dyn Simulator, theta: &[f64], rows: usize) -> Table {
    simulate_with(Seed(11), simulator, theta, rows)
}

fn simulate_with(seed: Seed, simulator: &dyn Simulator, theta: &[f64], rows: usize) -> Table {
    let thetas = Table::from_rows(theta.len(), theta.repeat(rows));
    let jobs = Jobs { thetas: &thetas, seed, generation: 0, first: 0 };
    let chunk = simulate_rows(simulator, &jobs, &(0..rows).collect::<Vec<_>>());
    assert!(chunk.outcomes.iter().all(Result::is_ok), "{:?}", chunk.outcomes);
    chunk.summaries
}

/// Mean and variance of `draws` lie within five standard errors of the exact ones: two comparisons, which
/// correct draws fail together with probability 1.2e-6 where their averages are normal.
pub(crate) fn agree(what: &str, draws: &[f64], exact: Moments) {
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let variance = draws.iter().map(|x| (x - exact.mean).powi(2)).sum::<f64>() / n;
    // Room for rounding where there is no randomness at all.
    let slack = 1e-9 * (1.0 + exact.mean.abs());
    let error = 5.0 * (exact.variance / n).sqrt() + slack;
    assert!((mean - exact.mean).abs() < error, "{what}: mean {mean}, exact {} +- {error}", exact.mean);
    let error = 5.0 * ((exact.fourth - exact.variance.powi(2)).max(0.0) / n).sqrt() + slack;
    assert!(
        (variance - exact.variance).abs() < error,
        "{what}: variance {variance}, exact {} +- {error}",
        exact.variance
    );
}

/// Why parameters are declined.
pub(crate) fn declined(simulator: &dyn Simulator, theta: &[f64]) -> String {
    let mut summaries = vec![0.0; simulator.summaries()];
    match simulator.simulate(theta, &mut Seed(1).stream(Stage::Simulate, 0, 0), &mut summaries) {
        Err(Failure::Declined(why)) => why,
        other => panic!("{theta:?} gives {other:?}"),
    }
}

/// Mean and variance of every statistic are the same in both simulators within five standard errors of their
/// difference: two comparisons a statistic, each of which correct ones fail with probability 5.7e-7 where averages
/// are normal.
pub(crate) fn alike(one: &dyn Simulator, other: &dyn Simulator, theta: &[f64], rows: usize) {
    let tables = [simulate_with(Seed(21), one, theta, rows), simulate_with(Seed(22), other, theta, rows)];
    assert_eq!(tables[0].columns(), tables[1].columns());
    let n = rows as f64;
    for column in 0..tables[0].columns() {
        let [a, b] = tables.each_ref().map(|table| {
            let draws: Vec<_> = table.column(column).iter().map(|&draw| (draw, 1.0)).collect();
            Moments::weighted(&draws)
        });
        let differ = |what: &str, a: f64, b: f64, errors: f64| {
            let error = 5.0 * (errors / n).sqrt() + 1e-9;
            assert!((a - b).abs() < error, "{theta:?}, column {column}: {what} {a} and {b} +- {error}");
        };
        differ("means", a.mean, b.mean, a.variance + b.variance);
        let spread = |of: Moments| (of.fourth - of.variance.powi(2)).max(0.0);
        differ("variances", a.variance, b.variance, spread(a) + spread(b));
    }
}

/// First and second derivative of `f` at `x`.
pub(crate) fn score(f: impl Fn(f64) -> f64, x: f64) -> (f64, f64) {
    let h = 1e-3;
    let (before, here, after) = (f(x - h), f(x), f(x + h));
    ((after - before) / (2.0 * h), (after - 2.0 * here + before) / (h * h))
}

/// The mean score is 0 and the mean of its square plus the curvature is 0, each within five standard errors.
pub(crate) fn information_equality(what: &str, derivatives: impl Iterator<Item = (f64, f64)>) {
    let derivatives: Vec<_> = derivatives.collect();
    let n = derivatives.len() as f64;
    let centred = |name: &str, of: &dyn Fn(f64, f64) -> f64| {
        let values: Vec<f64> = derivatives.iter().map(|&(score, curvature)| of(score, curvature)).collect();
        let mean = values.iter().sum::<f64>() / n;
        let error = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>()).sqrt() / n;
        assert!(error > 0.0 && mean.abs() < 5.0 * error, "{what}: {name} averages {mean} +- {error}, not 0");
    };
    centred("score", &|score, _| score);
    centred("score^2 + curvature", &|score, curvature| score * score + curvature);
}

/// Header and rows of a file of the reference data.
pub(crate) fn reference(folder: &str, file: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let path = format!("{}/../../reference/{folder}/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut lines = text.lines();
    let header = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let row = |line: &str| line.split(',').map(|field| field.parse().unwrap()).collect();
    (header, lines.map(row).collect())
}

/// Draws behind each summary of the reference posteriors.
const REFERENCE_DRAWS: f64 = 4_000.0;

/// Compares the mean and the standard deviation of a posterior, given as equally spaced points with log
/// densities, with the reference of the first `datasets` observations.
///
/// The reference's summaries are of exact draws, so five of their standard errors are allowed.
pub(crate) fn agree_with_reference(
    folder: &str,
    parameter: &str,
    datasets: usize,
    posterior: impl Fn(&[f64]) -> Vec<(f64, f64)>,
) {
    let (_, observed) = reference(folder, "observed.csv");
    let (header, summary) = reference(folder, "summary.csv");
    let column = |name: &str| header.iter().position(|each| *each == format!("{parameter}.{name}")).unwrap();
    assert!(observed.len() == summary.len() && observed.len() >= datasets);
    for (observed, summary) in observed.iter().zip(&summary).take(datasets) {
        let mut law = posterior(&observed[1..]);
        let highest = law.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        law.iter_mut().for_each(|point| point.1 = (point.1 - highest).exp());
        let exact = Moments::weighted(&law);
        let sd = exact.variance.sqrt();
        let error = 5.0 * sd / REFERENCE_DRAWS.sqrt();
        let mean = summary[column("mean")];
        assert!((mean - exact.mean).abs() < error, "{folder}: mean {mean}, exact {} +- {error}", exact.mean);
        let kurtosis = exact.fourth / exact.variance.powi(2);
        let error = 5.0 * sd * ((kurtosis - 1.0) / (4.0 * REFERENCE_DRAWS)).sqrt();
        let found = summary[column("sd")];
        assert!((found - sd).abs() < error, "{folder}: sd {found}, exact {sd} +- {error}");
    }
}

/// What every simulator must do, whatever it simulates.
pub(crate) fn conformance(simulator: &dyn Simulator, theta: &[f64]) {
    let run = |theta: &[f64], row: u64, before: f64| {
        let mut summaries = vec![before; simulator.summaries()];
        let outcome = simulator.simulate(theta, &mut Seed(3).stream(Stage::Simulate, 0, row), &mut summaries);
        outcome.map(|()| summaries)
    };
    let here = run(theta, 0, f64::NAN).unwrap();
    assert!(here.iter().all(|value| value.is_finite()), "an element is left or not finite: {here:?}");
    assert_eq!(here, run(theta, 0, 7.0).unwrap(), "equal streams, but what was there before shows");
    assert!((1..20).any(|row| run(theta, row, 0.0).unwrap() != here), "the stream does not matter");

    for parameter in 0..theta.len() {
        let mut changed = theta.to_vec();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-9] {
            changed[parameter] = bad;
            assert!(
                matches!(run(&changed, 0, 0.0), Err(Failure::Declined(_))),
                "{changed:?} is not declined"
            );
        }
        changed[parameter] = -0.0;
        let without = run(&changed, 0, f64::NAN).unwrap();
        assert!(without.iter().all(|value| value.is_finite()), "{changed:?} leaves {without:?}");
    }
    assert!(matches!(run(&theta[1..], 0, 0.0), Err(Failure::Declined(_))), "a missing parameter");
    assert!(matches!(run(&[theta, &[1.0]].concat(), 0, 0.0), Err(Failure::Declined(_))), "one too many");
    rows_are_simulated_as_one_by_one(simulator, &[theta.to_vec(), vec![f64::NAN; theta.len()]]);
}

/// A chunk, in any order of its rows, is what [`Simulator::simulate`] gives row by row.
pub(crate) fn rows_are_simulated_as_one_by_one(simulator: &dyn Simulator, thetas: &[Vec<f64>]) {
    let rows: Vec<usize> = (0..40).rev().collect();
    let values = (0..rows.len()).flat_map(|row| thetas[row % thetas.len()].clone()).collect();
    let thetas = Table::from_rows(thetas[0].len(), values);
    let jobs = Jobs { thetas: &thetas, seed: Seed(5), generation: 2, first: 0 };
    let chunk = simulate_rows(simulator, &jobs, &rows);
    for (slot, &row) in rows.iter().enumerate() {
        let mut alone = vec![f64::NAN; simulator.summaries()];
        let outcome = simulator.simulate(jobs.theta(row), &mut jobs.stream(row), &mut alone);
        assert_eq!(chunk.outcomes[slot], outcome, "row {row}");
        if outcome.is_ok() {
            assert_eq!(chunk.summaries.row(slot), alone, "row {row}");
        }
    }
}
