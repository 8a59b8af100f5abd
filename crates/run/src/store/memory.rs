//! A store that forgets with the process.

use std::collections::BTreeMap;
use std::path::PathBuf;

use counterpoise_core::digest::Generation;
use counterpoise_core::simulate::{Chunk, Simulated};

use super::{Header, Made, Store, StoreError, differences};

/// Keeps generations and their simulations in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    header: Option<Header>,
    generations: Vec<Generation>,
    chunks: BTreeMap<u32, Vec<Chunk>>,
    simulated: Vec<Simulated>,
    current: u32,
    forgets_chunks: bool,
}

impl Memory {
    /// A store that keeps generations only: for runs that are never resumed.
    #[must_use]
    pub fn forgetful() -> Self {
        Self { forgets_chunks: true, ..Self::default() }
    }
}

impl Store for Memory {
    fn open(&mut self, header: &Header) -> Result<Vec<Generation>, StoreError> {
        if let Some(old) = &self.header {
            let found = differences(&old.description, &header.description);
            if !found.refused.is_empty() {
                let path = PathBuf::from("memory");
                return Err(StoreError::Mismatch { path, differences: found.refused });
            }
        }
        self.header = Some(header.clone());
        Ok(self.generations.clone())
    }

    fn chunks(&mut self, index: u32, _: usize, take: &mut dyn FnMut(&Chunk)) -> Result<(), StoreError> {
        self.current = index;
        self.chunks.get(&index).into_iter().flatten().for_each(take);
        Ok(())
    }

    fn append(&mut self, chunk: Chunk) -> Result<(), StoreError> {
        if !self.forgets_chunks {
            self.chunks.entry(self.current).or_default().push(chunk);
        }
        Ok(())
    }

    fn forget_failures(&mut self) -> Result<(), StoreError> {
        if let Some(chunks) = self.chunks.get_mut(&self.current) {
            *chunks = std::mem::take(chunks).into_iter().map(Chunk::without_failures).collect();
        }
        Ok(())
    }

    fn simulations(&mut self, index: u32, _: usize) -> Result<Simulated, StoreError> {
        let forgotten = || StoreError::damaged("memory".as_ref(), None, "it keeps no simulations");
        self.simulated.get(index as usize).cloned().ok_or_else(forgotten)
    }

    fn commit(&mut self, made: &Made<'_>) -> Result<(), StoreError> {
        self.chunks.remove(&made.generation.index);
        if let (false, Some((_, simulated))) = (self.forgets_chunks, made.simulations) {
            self.simulated.push(simulated.clone());
        }
        self.generations.push(made.generation.clone());
        Ok(())
    }
}
