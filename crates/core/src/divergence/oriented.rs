//! The estimators that compare two samples: the paper's, and the same turned round (Poczos & Schneider 2011).
//!
//! For points `x_i` of one sample of size `n`, `rho` the distance to the k-th neighbour in the same sample and
//! `nu` that in the other, of size `m`,
//!
//! ```text
//! integral p^a q^(1-a)  ~  B_{k,a} / n  sum_i ( (n - 1) rho^d / (m nu^d) )^(1-a)
//! B_{k,a} = Gamma(k)^2 / ( Gamma(k - a + 1) Gamma(k + a - 1) )
//! ```

use super::followed::Followed;
use super::mass::Mass;
use super::neighbours::{Key, Sweep, square};
use super::{Divergence, Gauge, Space, power, radius_power};
use crate::propose::Importance;
use crate::vectors::{Loop, vectorised};

/// The exponent of the distance ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exponent {
    /// `d (1 - a)`, which is right.
    Corrected,
    /// `1 - a`, as the paper prints it; right for one parameter only.
    Printed,
}

/// Harrison & Baker's orientation: averages over a prior sample, looks for neighbours among the accepted, and
/// ignores importance weights.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Neighbours used.
    pub neighbours: usize,
    /// Order of the divergence.
    pub order: f64,
    /// Exponent of the distances.
    pub exponent: Exponent,
}

impl Divergence for Paper {
    /// The estimate, unlike the divergence, changes when coordinates are stretched: the paper's are the prior's.
    fn gauge<'a>(&'a self, space: &'a Space, _: &'a Importance<'a>) -> Box<dyn Gauge + 'a> {
        let d = space.dimension();
        let (points, reference) = space.in_unit_space();
        let mut sweep = Sweep::default();
        sweep.fill(d, 0..(reference.len() / d) as u32, |label| point(&reference, d, label));
        let mut list = vec![0; self.neighbours];
        let mut own = Vec::with_capacity(reference.len() / d);
        for (label, query) in reference.chunks_exact(d).enumerate() {
            sweep.nearest(query, sweep.place(query), label as u32, &mut list);
            own.push(square(list[self.neighbours - 1]));
        }
        Box::new(PaperGauge {
            plan: self,
            dimension: d,
            points,
            reference,
            own,
            other: Vec::new(),
            sweep,
            list,
        })
    }
}

/// The coordinates of one of many points.
fn point(points: &[f32], d: usize, label: u32) -> &[f32] {
    &points[label as usize * d..(label as usize + 1) * d]
}

struct PaperGauge<'a> {
    plan: &'a Paper,
    dimension: usize,
    points: Vec<f32>,
    reference: Vec<f32>,
    /// Squared distance of each prior point to its k-th neighbour among the others.
    own: Vec<f32>,
    /// The same to its k-th neighbour among the accepted.
    other: Vec<f32>,
    sweep: Sweep,
    list: Vec<Key>,
}

impl Gauge for PaperGauge<'_> {
    fn measure(&mut self, rows: &[u32]) -> f64 {
        let k = self.plan.neighbours;
        if rows.len() < k || self.own.len() <= k {
            return f64::NEG_INFINITY;
        }
        let d = match self.plan.exponent {
            Exponent::Corrected => self.dimension,
            Exponent::Printed => 1,
        };
        self.sweep.fill(self.dimension, rows.iter().copied(), |row| point(&self.points, self.dimension, row));
        let (n, m) = (self.own.len() as f64, rows.len() as f64);
        vectorised(Reach {
            sweep: &self.sweep,
            dimension: self.dimension,
            reference: &self.reference,
            list: &mut self.list,
            found: &mut self.other,
        });
        let term = |(&own, &other): (&f32, &f32)| {
            let ratio = f64::from(own) / f64::from(other);
            power((n - 1.0) / m * radius_power(ratio, d), 1.0 - self.plan.order)
        };
        let sum: f64 = self.own.iter().zip(&self.other).map(term).sum();
        1.0 - sum / n * constant(k, self.plan.order)
    }
}

/// Squared distances of the prior points to their last neighbour in the sweep.
struct Reach<'a> {
    sweep: &'a Sweep,
    dimension: usize,
    reference: &'a [f32],
    list: &'a mut [Key],
    found: &'a mut Vec<f32>,
}

impl Loop for Reach<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.found.clear();
        for query in self.reference.chunks_exact(self.dimension) {
            self.sweep.nearest(query, self.sweep.place(query), u32::MAX, self.list);
            self.found.push(square(self.list[self.list.len() - 1]));
        }
    }
}

/// The same turned round: averages over the accepted, looks for neighbours in a prior sample.
#[derive(Clone, Debug)]
pub struct Reversed {
    /// Neighbours used.
    pub neighbours: usize,
    /// Order of the divergence.
    pub order: f64,
}

impl Divergence for Reversed {
    fn gauge<'a>(&'a self, space: &'a Space, importance: &'a Importance<'a>) -> Box<dyn Gauge + 'a> {
        let points: Vec<&[f32]> = space.reference().collect();
        let mut sweep = Sweep::default();
        sweep.fill(space.dimension(), 0..points.len() as u32, |label| points[label as usize]);
        Box::new(ReversedGauge {
            plan: self,
            space,
            sweep,
            list: vec![0; self.neighbours],
            prior: vec![f32::NAN; space.rows()],
            followed: Followed::new(space, self.neighbours),
            mass: Mass::new(space, importance),
        })
    }
}

struct ReversedGauge<'a> {
    plan: &'a Reversed,
    space: &'a Space,
    sweep: Sweep,
    list: Vec<Key>,
    /// Squared distance of each row to its k-th neighbour in the prior sample; NaN where not yet known.
    prior: Vec<f32>,
    followed: Followed,
    mass: Mass<'a>,
}

impl Gauge for ReversedGauge<'_> {
    fn measure(&mut self, rows: &[u32]) -> f64 {
        let (k, d) = (self.plan.neighbours, self.space.dimension());
        let m = self.sweep.labels().len();
        if rows.len() <= k || m < k {
            return f64::NEG_INFINITY;
        }
        self.followed.follow(self.space, rows);
        self.mass.learn(rows);
        for &row in rows {
            if self.prior[row as usize].is_nan() {
                let point = self.space.point(row);
                self.sweep.nearest(point, self.sweep.place(point), u32::MAX, &mut self.list);
                self.prior[row as usize] = square(self.list[k - 1]);
            }
        }
        let total = self.mass.total(rows);
        let others = (rows.len() - 1) as f64;
        let lists = self.followed.current();
        let mut sum = 0.0;
        for (slot, &row) in lists.rows().iter().enumerate() {
            let list = lists.list(slot);
            let share = self.mass.share(row, list, total).unwrap_or(k as f64 / others);
            let ratio = f64::from(square(list[k - 1])) / f64::from(self.prior[row as usize]);
            let densities = radius_power(ratio, d) * k as f64 / (share * m as f64);
            sum += self.mass.of(row) * power(densities, 1.0 - self.plan.order);
        }
        1.0 - sum / total * constant(k, self.plan.order)
    }

    fn anchor(&mut self) {
        self.followed.anchor(self.space);
    }
}

/// `Gamma(k)^2 / (Gamma(k - a + 1) Gamma(k + a - 1))`.
fn constant(k: usize, order: f64) -> f64 {
    let k = k as f64;
    libm::exp(2.0 * libm::lgamma(k) - libm::lgamma(k - order + 1.0) - libm::lgamma(k + order - 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{conformance, gaussian, normal_prior};
    use super::*;
    use crate::stream::Seed;

    #[test]
    fn memory_never_shows() {
        conformance(&Paper { neighbours: 5, order: 0.5, exponent: Exponent::Corrected });
        conformance(&Reversed { neighbours: 5, order: 0.5 });
    }

    fn mean_over(divergence: &dyn Divergence, d: usize, size: usize) -> f64 {
        let (prior, importance) = (normal_prior(d), Importance::equal());
        let rows: Vec<u32> = (0..size as u32).collect();
        let one = |seed| {
            let space = Space::new(&prior, &gaussian(size, d, 0.5, 1.0, seed), Seed(seed), size);
            divergence.gauge(&space, &importance).measure(&rows)
        };
        (1..=20).map(one).sum::<f64>() / 20.0
    }

    /// N(0, I) against N(m, I): `1 - exp(-|m|^2 / 8)`. The estimators are consistent, so the sample is large.
    #[test]
    fn agree_with_the_closed_form_and_the_printed_exponent_does_not() {
        for d in [1, 2] {
            let exact = 1.0 - libm::exp(-0.25 * d as f64 / 8.0);
            let corrected =
                mean_over(&Paper { neighbours: 5, order: 0.5, exponent: Exponent::Corrected }, d, 2000);
            let reversed = mean_over(&Reversed { neighbours: 5, order: 0.5 }, d, 2000);
            assert!((corrected - exact).abs() < 0.03, "d = {d}: paper {corrected}, exact {exact}");
            assert!((reversed - exact).abs() < 0.03, "d = {d}: reversed {reversed}, exact {exact}");
            let printed =
                mean_over(&Paper { neighbours: 5, order: 0.5, exponent: Exponent::Printed }, d, 2000);
            assert_eq!(
                (printed - corrected).abs() < 1e-9,
                d == 1,
                "printed {printed}, corrected {corrected}"
            );
        }
    }

    #[test]
    fn constant_agrees_with_its_value_for_hellinger() {
        // Gamma(5)^2 / (Gamma(5.5) Gamma(4.5)) = 576 / (52.34277778455352 * 11.631728396567448)
        assert!((constant(5, 0.5) - 576.0 / (52.34277778455352 * 11.631728396567448)).abs() < 1e-12);
    }
}
