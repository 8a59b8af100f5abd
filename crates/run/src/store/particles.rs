//! Kept particles in a file: with where they were simulated, and all that the next generation needs.

use std::path::Path;

use counterpoise_core::digest::Generation;
use counterpoise_core::population::{LogWeights, Population};
use counterpoise_core::problem::UnitScale;
use counterpoise_core::table::Table;

use super::journal::Shape;
use super::sheet::{Columns, Names, Sheet, Values};
use super::{Header, StoreError};

/// Columns that stand behind the parameters and the same in unit space.
const OTHERS: [&str; 3] = ["log_importance_weight", "distance", "generation"];

/// Row, parameters, the same in unit space, importance weight, distance, generation: the names of all that there may be.
fn names(parameters: &[String]) -> Vec<String> {
    let mut names = Names::default();
    names.add("row");
    parameters.iter().for_each(|name| names.add(name));
    parameters.iter().for_each(|name| names.add(&format!("unit_{name}")));
    OTHERS.iter().for_each(|name| names.add(name));
    names.list().to_vec()
}

/// The columns of a file of particles. The row is one of the simulations of the generation beside it, where a population itself
/// counts on through the generations before. A unit-space coordinate that follows from its parameter in every row is left out; the
/// names of the others are the same as with it, and so tell which.
pub(super) fn columns<'a>(
    header: &'a Header,
    generation: &'a Generation,
    population: &'a Population,
) -> Columns<'a> {
    let (names, d) = (names(&header.parameters), header.parameters.len());
    let mut columns = Columns::default();
    columns.whole(&names[0], |at| i64::from(generation.origin(population.rows[at]).1));
    for (j, name) in names[1..=d].iter().enumerate() {
        columns.real(name, move |at| population.thetas.at(at, j));
    }
    for (j, name) in names[1 + d..=2 * d].iter().enumerate() {
        if !header.units.get(j).is_some_and(|scale| follows(scale, population, j)) {
            columns.real(name, move |at| population.units.at(at, j));
        }
    }
    columns.real(&names[2 * d + 1], |at| population.weights.ln()[at]);
    columns.real(&names[2 * d + 2], |at| population.distances[at]);
    columns.whole(&names[2 * d + 3], |at| i64::from(generation.origin(population.rows[at]).0));
    columns
}

/// Whether the unit-space coordinates of a parameter are those of its natural values, to the bit.
fn follows(scale: &UnitScale, population: &Population, parameter: usize) -> bool {
    let pairs = population.thetas.iter().zip(population.units.iter());
    pairs.into_iter().all(|(theta, unit)| scale.unit(theta[parameter]).to_bits() == unit[parameter].to_bits())
}

/// Which columns of a file of particles are there, of all that there may be.
///
/// Files of earlier versions have no generation, and all others.
fn present(found: &[String], parameters: &[String]) -> Option<Vec<usize>> {
    let (all, d) = (names(parameters), parameters.len());
    if [all.len() - 1, all.len()].contains(&found.len()) {
        // None is missing but the last: they need not be looked for.
        let is_whole = found.len() == all.len() || found.last() != all.last();
        if is_whole {
            return Some((0..found.len()).collect());
        }
    }
    let mut places = Vec::new();
    for name in found {
        let from = places.last().map_or(0, |last| last + 1);
        places.push(from + all[from..].iter().position(|known| known == name)?);
    }
    // Only coordinates may be missing.
    let is_unit = |place: &usize| (1 + d..=2 * d).contains(place);
    (0..all.len()).all(|place| is_unit(&place) || places.contains(&place)).then_some(places)
}

/// The columns of a file of particles that are no unit-space coordinates, by their place, where it is such a file.
#[must_use]
pub fn without_units(found: &[String], parameters: &[String]) -> Option<Vec<usize>> {
    let (places, d) = (present(found, parameters)?, parameters.len());
    Some((0..places.len()).filter(|&at| !(1 + d..=2 * d).contains(&places[at])).collect())
}

/// Reads the particles of a generation whose parameters have these names and scales; earlier versions tell no scales. Files of
/// earlier versions have no generation: their rows are those of the population.
pub(super) fn read(
    path: &Path,
    parameters: &[String],
    scales: Option<&[UnitScale]>,
    shape: &Shape,
) -> Result<Population, StoreError> {
    let wrong = || StoreError::damaged(path, None, "its columns are not those of a population");
    let (sheet, d) = (Sheet::open(path)?, parameters.len());
    let places = present(sheet.names(), parameters).filter(|_| d > 0).ok_or_else(wrong)?;
    let (mut rows, mut reals) = (Vec::new(), vec![Vec::new(); 2 * d + 2]);
    for group in 0..sheet.groups() {
        let mut columns = places.iter().zip(sheet.read(group)?);
        let Some((0, Values::Whole(part))) = columns.next() else { return Err(wrong()) };
        let mut generations = vec![i64::from(shape.generation); part.len()];
        for (&place, values) in columns {
            match values {
                Values::Real(values) if place <= reals.len() => reals[place - 1].extend(values),
                Values::Whole(values) if place > reals.len() && values.len() == part.len() => {
                    generations = values;
                }
                _ => return Err(wrong()),
            }
        }
        let pooled = part.iter().zip(&generations).map(|(&row, &generation)| pooled(row, generation, shape));
        rows.extend(pooled.collect::<Option<Vec<u32>>>().ok_or_else(wrong)?);
    }
    for (j, name) in parameters.iter().enumerate().filter(|(j, _)| !places.contains(&(1 + d + j))) {
        let what =
            || format!("it has no unit-space coordinates of `{name}`, and generation.json no scale of it");
        let scale = scales.and_then(|scales| scales.get(j));
        let scale = scale.ok_or_else(|| StoreError::damaged(path, None, what()))?;
        reals[d + j] = reals[j].iter().map(|&natural| scale.unit(natural)).collect();
    }
    let even = reals.iter().all(|column| column.len() == rows.len());
    let table = |columns: &[Vec<f64>]| {
        let values = (0..rows.len()).flat_map(|row| columns.iter().map(move |column| column[row]));
        Table::from_rows(columns.len(), values.collect())
    };
    let weights = LogWeights::new(reals[2 * d].clone());
    let (Some(weights), true) = (weights, even) else { return Err(wrong()) };
    Ok(Population {
        thetas: table(&reals[..d]),
        units: table(&reals[d..2 * d]),
        weights,
        distances: reals[2 * d + 1].clone(),
        rows,
    })
}

/// The row of a population that was simulated as a row of a generation: the reverse of `Generation::origin`.
fn pooled(row: i64, generation: i64, shape: &Shape) -> Option<u32> {
    let before = u64::try_from(i64::from(shape.generation) - generation).ok()?;
    let row = u64::try_from(row).ok()?.checked_add(before.checked_mul(shape.rows)?)?;
    u32::try_from(row).ok()
}

#[cfg(test)]
mod tests;
