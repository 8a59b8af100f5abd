//! Where in unit space a fit means anything.

use crate::table::Table;

/// The least and the largest unit-space value of each parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Region(pub(super) Vec<(f64, f64)>);

impl Region {
    /// Where points lie but for a share of them, those furthest out along each parameter.
    pub(super) fn of_most(units: &Table, but: f64) -> Self {
        let d = units.columns();
        let outside = (but * units.rows() as f64 / (2 * d) as f64) as usize;
        let range = |j: usize| {
            let mut values = units.column(j);
            let last = values.len() - 1;
            let low = *values.select_nth_unstable_by(outside.min(last), f64::total_cmp).1;
            (low, *values.select_nth_unstable_by(last - outside.min(last), f64::total_cmp).1)
        };
        Self((0..d).map(range).collect())
    }

    pub(super) fn holds(&self, unit: &[f64]) -> bool {
        unit.iter().zip(&self.0).all(|(value, (low, high))| low <= value && value <= high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_points_of_each_parameter_are_left_out() {
        let units =
            Table::from_rows(2, (0..1_000).flat_map(|i| [f64::from(i), f64::from(999 - i)]).collect());
        let region = Region::of_most(&units, 0.02);
        assert_eq!(region, Region(vec![(5.0, 994.0); 2]));
        let held = units.iter().filter(|unit| region.holds(unit)).count();
        assert_eq!(held, 990);
        assert_eq!(Region::of_most(&Table::from_rows(1, vec![3.0]), 1.0), Region(vec![(3.0, 3.0)]));
    }
}
