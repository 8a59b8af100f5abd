//! The entropy estimator against closed forms between Gaussians: M = 250, k = 5, mean of 50 repeats.

use counterpoise_core::divergence::{Divergence, Entropy, Space};
use counterpoise_core::problem::{Marginal, Prior, law};
use counterpoise_core::propose::Importance;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::table::Table;
use counterpoise_core::variates::StandardNormal;
use rand::distr::Distribution;

const POINTS: usize = 250;
const REPEATS: u64 = 50;

pub fn run() -> anyhow::Result<()> {
    println!("prior N(0, I), sample N(shift, sd^2 I), {POINTS} points, k = 5, mean of {REPEATS} repeats");
    for (shift, sd) in [(0.0, 1.0), (0.5, 1.0), (1.0, 1.0), (0.0, 0.5), (0.7, 0.5), (1.0, 0.3)] {
        for d in [1usize, 2, 4, 8] {
            let variance: f64 = sd * sd;
            let n = d as f64;
            let exact = 1.0
                - (2.0 * sd / (1.0 + variance)).powf(n / 2.0)
                    * (-n * shift * shift / (4.0 * (1.0 + variance))).exp();
            let values: Result<Vec<f64>, _> = (0..REPEATS).map(|seed| estimate(d, shift, sd, seed)).collect();
            let (mean, spread) = crate::reference::moments(&values?);
            println!(
                "shift {shift:.1} sd {sd:.1} d {d}: exact {exact:.3}  estimate {mean:.3}  error {:+.3}  sd {spread:.3}",
                mean - exact
            );
        }
    }
    Ok(())
}

fn estimate(d: usize, shift: f64, sd: f64, seed: u64) -> anyhow::Result<f64> {
    let normal = law::Normal::new(0.0, 1.0)?;
    let prior =
        Prior::new((0..d).map(|i| Marginal::new(format!("p{i}"), Box::new(normal.clone()))).collect());
    let mut rng = Seed(seed).stream(Stage::Reference, 1, 0);
    let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
    let units = Table::from_rows(d, (0..POINTS * d).map(|_| shift + sd * draw()).collect());
    let space = Space::new(&prior, &units, Seed(1), 1);
    let rows: Vec<u32> = (0..POINTS as u32).collect();
    let importance = Importance::equal();
    let plan = Entropy::default();
    let value = plan.gauge(&space, &importance).measure(&rows);
    Ok(value)
}
