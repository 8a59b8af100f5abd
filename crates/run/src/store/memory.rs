//! A store that forgets with the process.

use std::collections::BTreeMap;
use std::path::PathBuf;

use counterpoise_core::digest::Generation;
use counterpoise_core::simulate::Chunk;

use super::{Header, Store, StoreError};

/// Keeps generations, and until their commit the chunks of each, in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    header: Option<Header>,
    generations: Vec<Generation>,
    chunks: BTreeMap<u32, Vec<Chunk>>,
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
        if self.header.as_ref().is_some_and(|old| old != header) {
            let differences = vec!["its header differs".into()];
            return Err(StoreError::Mismatch { path: PathBuf::from("memory"), differences });
        }
        self.header = Some(header.clone());
        Ok(self.generations.clone())
    }

    fn chunks(&mut self, index: u32) -> Result<Vec<Chunk>, StoreError> {
        Ok(self.chunks.get(&index).cloned().unwrap_or_default())
    }

    fn append(&mut self, index: u32, chunk: &Chunk) -> Result<(), StoreError> {
        if self.forgets_chunks {
            return Ok(());
        }
        self.chunks.entry(index).or_default().push(chunk.clone());
        Ok(())
    }

    fn commit(&mut self, generation: &Generation) -> Result<(), StoreError> {
        self.chunks.remove(&generation.index);
        self.generations.push(generation.clone());
        Ok(())
    }
}
