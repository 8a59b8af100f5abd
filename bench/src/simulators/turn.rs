//! Simulations made in a row, and what is remembered of them.

/// Processor time of some simulations, and the moments of their summaries.
#[derive(Clone)]
pub struct Turn {
    pub seconds: f64,
    pub count: f64,
    pub sums: Vec<f64>,
    pub squares: Vec<f64>,
}

impl Turn {
    pub fn new(summaries: usize) -> Self {
        Self { seconds: 0.0, count: 0.0, sums: vec![0.0; summaries], squares: vec![0.0; summaries] }
    }

    /// Counts a simulation.
    pub fn add(&mut self, summaries: &[f64]) {
        self.count += 1.0;
        for ((sum, square), x) in self.sums.iter_mut().zip(&mut self.squares).zip(summaries) {
            *sum += x;
            *square += x * x;
        }
    }

    /// Counts the simulations of another turn.
    pub fn join(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.count += other.count;
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, more)| *sum += more);
        self.squares.iter_mut().zip(&other.squares).for_each(|(square, more)| *square += more);
    }

    /// Processor seconds a simulation.
    pub fn each(&self) -> f64 {
        self.seconds / self.count
    }

    pub fn mean(&self, summary: usize) -> f64 {
        self.sums[summary] / self.count
    }

    pub fn sd(&self, summary: usize) -> f64 {
        (self.squares[summary] / self.count - self.mean(summary).powi(2)).max(0.0).sqrt()
    }

    /// The first summary whose means differ by more than five standard errors.
    pub fn disagreement(&self, other: &Self) -> Option<usize> {
        let apart = |&summary: &usize| {
            let mut both = self.clone();
            both.join(other);
            let error = both.sd(summary) * (1.0 / self.count + 1.0 / other.count).sqrt();
            // Two counts in the smaller sample are no evidence where almost all are equal.
            let grain = 2.0 / self.count.min(other.count);
            (self.mean(summary) - other.mean(summary)).abs() > 5.0 * error + grain
        };
        (0..self.sums.len()).find(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_means_far_apart_disagree() {
        let turn = |shift: f64| {
            let mut turn = Turn::new(2);
            (0..1000).for_each(|i| turn.add(&[7.0, shift + f64::from(i % 10)]));
            turn
        };
        assert_eq!((turn(0.0).mean(1), turn(0.0).count), (4.5, 1000.0));
        assert!((turn(0.0).sd(1) - 8.25f64.sqrt()).abs() < 1e-12);
        assert_eq!(turn(0.0).disagreement(&turn(0.3)), None);
        assert_eq!(turn(0.0).disagreement(&turn(1.0)), Some(1));
    }
}
