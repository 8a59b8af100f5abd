//! Statistics that look alike: equal laws over the simulations, as those of exchangeable observations have.

/// Fewer alike are no group.
const FEWEST: usize = 3;
/// Statistics that are looked at, at the most.
const MOST_STATISTICS: usize = 400;
/// Levels at which distribution functions are compared, and how far apart they may lie, in standard errors.
const LEVELS: usize = 64;
const APART: f64 = 1.6;

/// The groups among the given statistics, of which the values over some simulations stand in order.
pub(super) fn alike(columns: &[usize], sorted: &[Vec<f64>]) -> Vec<Vec<usize>> {
    if columns.len() < FEWEST || columns.len() > MOST_STATISTICS {
        return Vec::new();
    }
    let n = sorted[0].len();
    let limit = APART * (2.0 / n as f64).sqrt();
    let share = |values: &[f64], at: f64| values.partition_point(|&value| value <= at) as f64 / n as f64;
    let like = |a: &[f64], b: &[f64]| {
        (0..LEVELS).all(|level| {
            let at = a[(level * n + n / 2) / LEVELS];
            (share(a, at) - share(b, at)).abs() < limit
        })
    };
    let mut left: Vec<usize> = (0..columns.len()).collect();
    let mut groups = Vec::new();
    while let Some((&first, rest)) = left.split_first() {
        let (same, other): (Vec<usize>, Vec<usize>) =
            rest.iter().partition(|&&other| like(&sorted[first], &sorted[other]));
        if same.len() + 1 >= FEWEST {
            groups.push(std::iter::once(first).chain(same).map(|at| columns[at]).collect());
        }
        left = other;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;
    use crate::table::Table;

    #[test]
    fn columns_of_one_law_are_a_group() {
        let (a, b) = (gaussian(2_000, 4, 0.0, 1.0, 1), gaussian(2_000, 4, 0.3, 1.0, 2));
        let rows = (0..2_000).flat_map(|i| (0..4).flat_map(move |j| [(i, j, 0), (i, j, 1)]));
        let data = rows.map(|(i, j, which)| if which == 0 { a.at(i, j) } else { b.at(i, j) });
        let table = Table::from_rows(8, data.collect());
        let sorted = |j: usize| {
            let mut values = table.column(j);
            values.sort_by(f64::total_cmp);
            values
        };
        let sorted: Vec<Vec<f64>> = (0..8).map(sorted).collect();
        let found = alike(&(0..8).collect::<Vec<_>>(), &sorted);
        assert_eq!(found, [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert!(alike(&[0, 1, 2, 3], &sorted[..4]).is_empty(), "two alike are no group");
    }
}
