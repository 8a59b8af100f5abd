//! A store in memory: generations with the summaries of every simulation, and the first draws from the prior with their parameters.

use counterpoise_core::digest::Generation;
use counterpoise_core::simulate::{Chunk, Simulated};
use counterpoise_core::stacked::Stacked;
use counterpoise_core::table::Table;
use counterpoise_run::store::{Header, Made, Store, StoreError};

/// Simulations of the first generation that are kept: draws from the prior with what they predict.
pub(crate) const PRIOR: usize = 1_000;

/// What is kept of a run that is not in a directory.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) header: Option<Header>,
    pub(crate) generations: Vec<Generation>,
    /// Every simulation: later generations may accept it. Of a table nothing is kept.
    simulated: Vec<Simulated>,
    /// Summaries of the particles of the last generation and of its posterior, where the simulations are those of a table.
    of_table: Option<(Table, Table)>,
    /// Parameters and summaries of the first usable draws from the prior.
    pub(crate) prior: Option<(Table, Table)>,
}

impl Kept {
    /// Summaries of the particles that a generation kept.
    pub(crate) fn accepted(&self, index: usize) -> Option<Table> {
        let generation = &self.generations[index];
        let of_table = || self.of_table.as_ref().map(|(accepted, _)| accepted.clone());
        self.summaries(generation, &generation.population.rows).or_else(of_table)
    }

    /// Summaries of the particles of a generation's posterior.
    pub(crate) fn predictive(&self, index: usize) -> Option<Table> {
        let generation = &self.generations[index];
        let of_table = || self.of_table.as_ref().map(|(_, posterior)| posterior.clone());
        self.summaries(generation, &generation.posterior().rows).or_else(of_table)
    }

    fn summaries(&self, generation: &Generation, rows: &[u32]) -> Option<Table> {
        let columns = self.simulated.first()?.summaries().columns();
        let mut summaries = Table::filled(rows.len(), columns, f64::NAN);
        for (at, &row) in rows.iter().enumerate() {
            let (index, row) = generation.origin(row);
            Stacked::from(self.simulated[index as usize].summaries())
                .row(row as usize)
                .write(summaries.row_mut(at));
        }
        Some(summaries)
    }
}

impl Store for Kept {
    fn open(&mut self, header: &Header) -> Result<Vec<Generation>, StoreError> {
        self.header = Some(header.clone());
        Ok(self.generations.clone())
    }

    fn chunks(&mut self, _: u32, _: usize, _: &mut dyn FnMut(&Chunk)) -> Result<(), StoreError> {
        Ok(())
    }

    fn append(&mut self, _: Chunk) -> Result<(), StoreError> {
        Ok(())
    }

    fn simulations(&mut self, index: u32, _: usize) -> Result<Simulated, StoreError> {
        let missing = || StoreError::Damaged {
            path: "memory".into(),
            at: None,
            what: "it keeps no simulations of a table".into(),
        };
        self.simulated.get(index as usize).cloned().ok_or_else(missing)
    }

    fn commit(&mut self, made: &Made<'_>) -> Result<(), StoreError> {
        let made_or_given = made.simulations.or(made.table);
        if let (0, Some((thetas, simulated))) = (made.generation.index, made_or_given) {
            let rows: Vec<u32> = simulated.usable().into_iter().take(PRIOR).collect();
            self.prior = Some((thetas.select(&rows), simulated.summaries().select(&rows)));
        }
        if let Some((_, given)) = made.table {
            let (all, made) = (given.summaries(), made.generation);
            self.of_table = Some((all.select(&made.population.rows), all.select(&made.posterior().rows)));
        }
        self.simulated.extend(made.simulations.map(|(_, simulated)| simulated.clone()));
        self.generations.push(made.generation.clone());
        Ok(())
    }
}
