//! The simulations of several generations, looked at together.

use std::borrow::Cow;

use crate::digest::{DigestError, Earlier, Inputs, first_failure};
use crate::problem::Prior;
use crate::propose::{Importance, Part};
use crate::stacked::{Layer, Stacked};
use crate::table::Table;

/// The simulations of a generation and of those before it, the newest first: row `r` of a pool of generations with `n`
/// simulations each is row `r % n` of the generation `r / n` before the last.
pub(crate) struct Pool<'a> {
    pub(crate) units: Cow<'a, Table>,
    /// Of each generation, which keeps them.
    thetas: Vec<Layer<'a>>,
    summaries: Vec<Layer<'a>>,
    /// The generations before that are in it, the newest first.
    earlier: Vec<&'a Earlier>,
}

/// Simulations at the most, unless one generation has more.
pub(crate) const MOST: usize = 200_000;

impl<'a> Pool<'a> {
    pub(crate) fn of(inputs: &Inputs<'a>) -> Self {
        let (proposed, simulated) = (inputs.proposed, inputs.simulated);
        let mut total = proposed.units.rows();
        let fits = |earlier: &&Earlier| {
            total += earlier.proposed.units.rows();
            total <= MOST
        };
        let earlier: Vec<&Earlier> = inputs.earlier.iter().rev().take_while(fits).collect();
        let layers = |own: Layer<'a>, other: fn(&'a Earlier) -> Layer<'a>| -> Vec<Layer<'a>> {
            std::iter::once(own).chain(earlier.iter().map(|&earlier| other(earlier))).collect()
        };
        // Looked at all the time, and narrow: these are put together.
        let units = if earlier.is_empty() {
            Cow::Borrowed(&proposed.units)
        } else {
            let others = earlier.iter().map(|earlier| earlier.proposed.units.values());
            let values: Vec<&[f64]> = std::iter::once(proposed.units.values()).chain(others).collect();
            Cow::Owned(Table::from_rows(proposed.units.columns(), values.concat()))
        };
        Self {
            units,
            thetas: layers((&proposed.thetas).into(), |earlier| (&earlier.proposed.thetas).into()),
            summaries: layers(simulated.summaries(), |earlier| earlier.simulated.summaries()),
            earlier,
        }
    }

    pub(crate) fn thetas(&self) -> Stacked<'_> {
        Stacked::new(&self.thetas)
    }

    pub(crate) fn summaries(&self) -> Stacked<'_> {
        Stacked::new(&self.summaries)
    }

    /// The rows that did not fail.
    pub(crate) fn usable(&self, inputs: &Inputs<'_>, keep: usize) -> Result<Vec<u32>, DigestError> {
        let mut rows = Vec::with_capacity(self.units.rows());
        rows.extend(inputs.simulated.usable());
        let mut first = inputs.proposed.units.rows() as u32;
        for earlier in &self.earlier {
            rows.extend(earlier.simulated.usable().into_iter().map(|row| first + row));
            first += earlier.proposed.units.rows() as u32;
        }
        if rows.len() < keep {
            let (total, failed) = (inputs.proposed.units.rows(), inputs.simulated.failures().len());
            let first = first_failure(inputs);
            return Err(DigestError::TooFewUsable { usable: rows.len(), failed, total, keep, first });
        }
        Ok(rows)
    }

    /// What the rows weigh.
    pub(crate) fn importance<'b>(&'b self, inputs: &Inputs<'b>, prior: &'b Prior) -> Importance<'b> {
        if self.earlier.is_empty() {
            return match inputs.kernel {
                Some(kernel) => Importance::new(prior, kernel, &self.units),
                None => Importance::equal(),
            };
        }
        let mut parts = vec![(inputs.kernel, inputs.proposed)];
        parts.extend(self.earlier.iter().map(|earlier| (earlier.kernel.as_deref(), &earlier.proposed)));
        // Sums that are remembered run over all generations, from the first.
        let remembers = self.earlier.len() == inputs.index as usize;
        let mut first = 0;
        let remembered = parts.iter().filter(|_| remembers).map(|(_, proposed)| {
            first += proposed.units.rows();
            (first - proposed.units.rows(), &proposed.densities)
        });
        let remembered = remembered.collect();
        let parts = parts.into_iter().rev();
        let parts = parts.map(|(kernel, proposed)| Part::new(kernel, proposed.units.rows(), proposed.inside));
        Importance::pooled(prior, parts.collect(), &self.units, remembered)
    }
}
