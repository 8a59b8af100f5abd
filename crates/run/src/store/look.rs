//! A run's directory as a bystander sees it: nothing is locked, and nothing is written.

use std::path::Path;

use counterpoise_core::digest::Generation;
use counterpoise_core::population::Population;
use counterpoise_core::table::Table;

use super::error::io;
use super::folder::{Folder, generation as folder_of};
use super::generation::{Record, SIMULATIONS_FILE};
use super::journal::{Beginning, JOURNAL, Piece, Reader, Shape};
use super::lock::Lock;
use super::sheet::{Sheet, Values};
use super::{StoreError, check_simulations};

/// The committed generation of an index; `None` where it is not committed (yet).
///
/// # Errors
/// If it is damaged, or cannot be read.
pub fn committed(directory: &Path, index: u32) -> Result<Option<Generation>, StoreError> {
    let folder = Folder::new(directory.to_path_buf());
    Record::read(&folder, index)?.map(|record| record.generation()).transpose()
}

/// Who is at work in a directory, if anybody is known to be.
#[must_use]
pub fn holder(directory: &Path) -> Option<String> {
    Lock::holder(&Folder::new(directory.to_path_buf()))
}

/// The statistics of the particles of one of the populations of a committed generation, in their order; `None` where its
/// simulations are a table's and not kept.
///
/// # Errors
/// If they are damaged, or cannot be read.
pub fn accepted(
    directory: &Path,
    generation: &Generation,
    population: &Population,
    shape: (usize, usize),
) -> Result<Option<Table>, StoreError> {
    let origins: Vec<(u32, u32)> = population.rows.iter().map(|&row| generation.origin(row)).collect();
    let mut all = Table::filled(origins.len(), shape.1.max(1), f64::NAN);
    for index in 0..=generation.index {
        let places: Vec<usize> = (0..origins.len()).filter(|&place| origins[place].0 == index).collect();
        if places.is_empty() {
            continue;
        }
        let rows: Vec<u32> = places.iter().map(|&place| origins[place].1).collect();
        let Some(some) = simulated(directory, index, shape, &rows)? else { return Ok(None) };
        places.iter().zip(some.iter()).for_each(|(&place, row)| all.row_mut(place).copy_from_slice(row));
    }
    Ok(Some(all))
}

/// The statistics of some rows of a committed generation, in that order; `None` where its simulations are a table's and not kept.
///
/// # Errors
/// If they are damaged, or cannot be read.
pub fn simulated(
    directory: &Path,
    index: u32,
    (parameters, statistics): (usize, usize),
    rows: &[u32],
) -> Result<Option<Table>, StoreError> {
    if !check_simulations(directory, index)? {
        return Ok(None);
    }
    let path = directory.join(folder_of(index)).join(SIMULATIONS_FILE);
    let wrong = || StoreError::damaged(&path, None, "its columns are not those of simulations");
    let sheet = Sheet::open(&path)?;
    // The row, the parameters, the statistics, the outcome.
    if sheet.names().len() != parameters + statistics + 2 {
        return Err(wrong());
    }
    let mut table = Table::filled(rows.len(), statistics, f64::NAN);
    let mut wanted: Vec<(usize, usize)> =
        rows.iter().enumerate().map(|(place, &row)| (row as usize, place)).collect();
    wanted.sort_unstable();
    let (mut first, mut waiting) = (0, &wanted[..]);
    for group in 0..sheet.groups() {
        let length = sheet.length(group);
        let here = waiting.partition_point(|(row, _)| *row < first + length);
        let (part, rest) = waiting.split_at(here);
        waiting = rest;
        if part.is_empty() {
            first += length;
            continue;
        }
        let places = places(&sheet.column(group, 0)?, first).ok_or_else(wrong)?;
        for column in 0..statistics {
            let Values::Real(values) = sheet.column(group, 1 + parameters + column)? else {
                return Err(wrong());
            };
            for &(row, place) in part {
                table.row_mut(place)[column] =
                    *places.get(row - first).and_then(|&at| values.get(at)).ok_or_else(wrong)?;
            }
        }
        first += length;
    }
    if waiting.is_empty() { Ok(Some(table)) } else { Err(wrong()) }
}

/// Where in a group, the rows of which may be in any order, each is whose number is `first` or one of those that follow.
fn places(numbers: &Values, first: usize) -> Option<Vec<usize>> {
    let Values::Whole(numbers) = numbers else { return None };
    let mut places = vec![usize::MAX; numbers.len()];
    for (place, &number) in numbers.iter().enumerate() {
        *places.get_mut(usize::try_from(number).ok()?.checked_sub(first)?)? = place;
    }
    Some(places)
}

/// The generation under way, followed as its journal grows.
#[derive(Debug, Default)]
pub struct Follower {
    at: u64,
    shape: Option<Shape>,
    /// Simulations that are done.
    pub done: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// What the last of them failed of: generation, row and why.
    pub failures: Vec<(u32, usize, String)>,
}

/// How many failures are remembered.
const REMEMBERED: usize = 50;

impl Follower {
    /// How many simulations the generation has, once its journal has begun.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        self.shape.map(|shape| shape.rows)
    }

    /// Reads what was added to the journal of a generation. Where it is no longer the same journal, it begins anew; failures are
    /// remembered. The end of the file may be half a record: that is for the next time.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn look(&mut self, directory: &Path, index: u32) -> Result<(), StoreError> {
        let path = directory.join(folder_of(index)).join(JOURNAL);
        let opened = match Reader::open(&path)? {
            Beginning::Sound(reader) => Some(reader),
            Beginning::Torn | Beginning::Damaged(_) => None,
        };
        let Some(mut reader) = opened.filter(|reader| reader.shape().generation == index) else {
            self.forget();
            return Ok(());
        };
        if self.shape != Some(reader.shape()) || !reader.go_to(self.at).map_err(io("read", &path))? {
            self.forget();
            self.shape = Some(reader.shape());
            reader.go_to(0).map_err(io("read", &path))?;
        }
        loop {
            let before = reader.position();
            match reader.next().map_err(io("read", &path))? {
                Some(Piece::Rows(chunk)) => {
                    self.done += chunk.rows.len() as u64;
                    for (row, outcome) in chunk.rows.iter().zip(&chunk.outcomes) {
                        if let Err(failure) = outcome {
                            self.failed += 1;
                            self.failures.push((index, *row, failure.to_string()));
                        }
                    }
                    let surplus = self.failures.len().saturating_sub(REMEMBERED);
                    self.failures.drain(..surplus);
                    self.at = reader.position();
                }
                // At the end it may be on its way to the disk. Elsewhere it is the affair of `verify`, and passed over with what follows.
                Some(Piece::Damaged { .. }) => {}
                Some(Piece::Torn { .. }) => {
                    self.at = before;
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
    }

    fn forget(&mut self) {
        *self = Self { failures: std::mem::take(&mut self.failures), ..Self::default() };
    }
}
