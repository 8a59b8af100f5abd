//! A reader that hashes what passes through it.

use std::io::{self, Read};

/// Hashes every byte that is read through it.
pub(crate) struct Hashing<R> {
    inner: R,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<R: Read> Hashing<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, hasher: blake3::Hasher::new(), bytes: 0 }
    }

    /// Reads what is left; gives the number of bytes in all and their hash.
    pub(crate) fn finish(mut self) -> io::Result<(u64, String)> {
        let mut buffer = vec![0; 1 << 18];
        while self.read(&mut buffer)? > 0 {}
        Ok((self.bytes, self.hasher.finalize().to_hex().to_string()))
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}
