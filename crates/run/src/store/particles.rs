//! Kept particles in a file: with where they were simulated, and all that the next generation needs.

use std::path::Path;

use counterpoise_core::digest::Generation;
use counterpoise_core::population::{LogWeights, Population};
use counterpoise_core::table::Table;

use super::journal::Shape;
use super::sheet::{Columns, Sheet, Values};
use super::{Header, StoreError};

/// Row, parameters, the same in unit space, importance weight, distance, generation. The row is one of the simulations of that
/// generation, where a population itself counts on through the generations before.
pub(super) fn columns<'a>(
    header: &'a Header,
    generation: &'a Generation,
    population: &'a Population,
) -> Columns<'a> {
    let mut columns = Columns::default();
    columns.whole("row", |at| i64::from(generation.origin(population.rows[at]).1));
    for (j, name) in header.parameters.iter().enumerate() {
        columns.real(name, move |at| population.thetas.at(at, j));
    }
    for (j, name) in header.parameters.iter().enumerate() {
        columns.real(&format!("unit_{name}"), move |at| population.units.at(at, j));
    }
    columns.real("log_importance_weight", |at| population.weights.ln()[at]);
    columns.real("distance", |at| population.distances[at]);
    columns.whole("generation", |at| i64::from(generation.origin(population.rows[at]).0));
    columns
}

/// Reads the particles of a generation with so many parameters. Files of earlier versions have no generation: their rows are those
/// of the population.
pub(super) fn read(path: &Path, parameters: usize, shape: &Shape) -> Result<Population, StoreError> {
    let wrong = || StoreError::damaged(path, None, "its columns are not those of a population");
    let sheet = Sheet::open(path)?;
    let known = [2 * parameters + 3, 2 * parameters + 4];
    if !known.contains(&sheet.names().len()) || parameters == 0 {
        return Err(wrong());
    }
    let (mut rows, mut reals) = (Vec::new(), vec![Vec::new(); 2 * parameters + 2]);
    for group in 0..sheet.groups() {
        let mut columns = sheet.read(group)?.into_iter();
        let Some(Values::Whole(part)) = columns.next() else { return Err(wrong()) };
        for (all, part) in reals.iter_mut().zip(columns.by_ref()) {
            let Values::Real(part) = part else { return Err(wrong()) };
            all.extend(part);
        }
        let generations = match columns.next() {
            Some(Values::Whole(generations)) if generations.len() == part.len() => generations,
            None => vec![i64::from(shape.generation); part.len()],
            Some(_) => return Err(wrong()),
        };
        let pooled = part.iter().zip(&generations).map(|(&row, &generation)| pooled(row, generation, shape));
        rows.extend(pooled.collect::<Option<Vec<u32>>>().ok_or_else(wrong)?);
    }
    let even = reals.iter().all(|column| column.len() == rows.len());
    let table = |columns: &[Vec<f64>]| {
        let values = (0..rows.len()).flat_map(|row| columns.iter().map(move |column| column[row]));
        Table::from_rows(columns.len(), values.collect())
    };
    let weights = LogWeights::new(reals[2 * parameters].clone());
    let (Some(weights), true) = (weights, even) else { return Err(wrong()) };
    Ok(Population {
        thetas: table(&reals[..parameters]),
        units: table(&reals[parameters..2 * parameters]),
        weights,
        distances: reals[2 * parameters + 1].clone(),
        rows,
    })
}

/// The row of a population that was simulated as a row of a generation: the reverse of `Generation::origin`.
fn pooled(row: i64, generation: i64, shape: &Shape) -> Option<u32> {
    let before = u64::try_from(i64::from(shape.generation) - generation).ok()?;
    let row = u64::try_from(row).ok()?.checked_add(before.checked_mul(shape.rows)?)?;
    u32::try_from(row).ok()
}
