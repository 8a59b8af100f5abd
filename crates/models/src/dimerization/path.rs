//! One trajectory of the dimerization system, from any point to its end.

use counterpoise_core::problem::Failure;
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::Exp1;
use rand::RngExt;

use super::Dimerization;
use crate::limits::{endless, parameters};

/// What each reaction, in the order k1 to k4, adds to S1, S2 and S3.
const CHANGES: [[f64; 3]; 4] = [[-1.0, 0.0, 0.0], [0.0, -1.0, 1.0], [-2.0, 1.0, 0.0], [2.0, -1.0, 0.0]];

/// A trajectory under way.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// k1, k2, half of k3, k4.
    pub(super) rates: [f64; 4],
    /// Numbers of S1, S2 and S3.
    pub(super) state: [f64; 3],
    pub(super) now: f64,
    /// Index of the next observation time.
    pub(super) next: usize,
    pub(super) events: u64,
}

impl Path {
    /// Sets out and observes time 0.
    pub(super) fn start(model: &Dimerization, theta: &[f64], summaries: &mut [f64]) -> Result<Self, Failure> {
        let [decay, convert, pair, split] = parameters(["k1", "k2", "k3", "k4"], theta)?;
        let (rates, initial) = ([decay, convert, 0.5 * pair, split], model.initial as f64);
        // S1 never exceeds its initial number nor S2 half of that: no later propensity can overflow either.
        if !((decay + convert + split + pair * initial) * initial).is_finite() {
            return Err(endless());
        }
        let mut path = Self { rates, state: [initial, 0.0, 0.0], now: 0.0, next: 0, events: 0 };
        path.observe(path.state, summaries);
        Ok(path)
    }

    /// Writes `state` as that of the next observation time.
    pub(super) fn observe(&mut self, state: [f64; 3], summaries: &mut [f64]) {
        for (series, count) in summaries.chunks_exact_mut(summaries.len() / 3).zip(state) {
            series[self.next] = count;
        }
        self.next += 1;
    }

    /// Goes on to the last observation time.
    pub(super) fn finish(
        mut self,
        model: &Dimerization,
        rng: &mut Stream,
        summaries: &mut [f64],
    ) -> Result<(), Failure> {
        let times = model.times.values();
        let [decay, convert, pair, split] = self.rates;
        let ([mut s1, mut s2, mut s3], mut now) = (self.state, self.now);
        for _ in self.events..model.patience {
            // All propensities anew: the multiplications cost less than a branch on which reaction it was.
            let below_convert = decay * s1;
            let below_pair = below_convert + convert * s2;
            let below_split = below_pair + pair * s1 * (s1 - 1.0);
            let total = below_split + split * s2;
            // Infinite when nothing can happen any more.
            now += rng.sample::<f64, _>(Exp1) / total;
            while times[self.next] < now {
                self.observe([s1, s2, s3], summaries);
                if self.next == times.len() {
                    return Ok(());
                }
            }
            // A uniform variate below 1 keeps this below `total`, so no reaction of propensity 0 is chosen.
            let mark = rng.random::<f64>() * total;
            let reaction = usize::from(mark >= below_convert)
                + usize::from(mark >= below_pair)
                + usize::from(mark >= below_split);
            let [d1, d2, d3] = CHANGES[reaction];
            (s1, s2, s3) = (s1 + d1, s2 + d2, s3 + d3);
        }
        Err(endless())
    }
}
