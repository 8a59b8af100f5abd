//! Randomness as a value: every draw is addressed by (seed, stage, generation, index).

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The root of all randomness of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

/// Which stage consumes a stream; part of the address, so stages never share draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Stage {
    /// The reference sample from the prior.
    Reference = 1,
    /// Drawing parameters.
    Propose = 2,
    /// Running the simulator.
    Simulate = 3,
    /// Choosing distance weights.
    Weigh = 4,
    /// Making synthetic observations at a known truth.
    Observe = 5,
}

impl Seed {
    /// The stream at one address. Equal addresses give equal streams on every machine.
    #[must_use]
    pub fn stream(self, stage: Stage, generation: u32, index: u64) -> Stream {
        self.streams(stage, generation).at(index)
    }

    /// The streams of one stage and generation.
    #[must_use]
    pub fn streams(self, stage: Stage, generation: u32) -> Streams {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..16].copy_from_slice(&(stage as u64).to_le_bytes());
        key[16..20].copy_from_slice(&generation.to_le_bytes());
        Streams { address: ChaCha8Rng::from_seed(key), group: None, seeds: [0; GROUP * SEED] }
    }
}

/// Bytes that seed one stream, and streams that are seeded together: the cipher makes 256 bytes at a time.
const SEED: usize = 32;
const GROUP: usize = 8;

/// All streams of one stage and generation, by index.
///
/// `ChaCha8` keyed by (seed, stage, generation) makes on its stream number `index / 8` the 32 bytes at
/// `index % 8` that seed a xoshiro256++ of its own: addresses never collide, a draw costs a nanosecond, and
/// neighbouring indices share the cost of the cipher.
#[derive(Clone, Debug)]
pub struct Streams {
    address: ChaCha8Rng,
    group: Option<u64>,
    seeds: [u8; GROUP * SEED],
}

impl Streams {
    /// The stream of `index`, in whatever order they are asked for.
    #[must_use]
    pub fn at(&mut self, index: u64) -> Stream {
        let group = index / GROUP as u64;
        if self.group != Some(group) {
            self.address.set_stream(group);
            self.address.set_word_pos(0);
            self.address.fill_bytes(&mut self.seeds);
            self.group = Some(group);
        }
        let start = (index % GROUP as u64) as usize * SEED;
        let mut state = [0; SEED];
        state.copy_from_slice(&self.seeds[start..start + SEED]);
        Stream(Xoshiro256PlusPlus::from_seed(state))
    }
}

/// A generator owned by one unit of work. Concrete, so that stage traits stay object-safe.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_addresses_give_equal_streams_and_others_differ() {
        let first =
            |seed: u64, stage, generation, index| Seed(seed).stream(stage, generation, index).next_u64();
        let here = first(1, Stage::Propose, 2, 3);
        assert_eq!(here, first(1, Stage::Propose, 2, 3));
        for other in [
            first(2, Stage::Propose, 2, 3),
            first(1, Stage::Simulate, 2, 3),
            first(1, Stage::Propose, 3, 3),
            first(1, Stage::Propose, 2, 4),
        ] {
            assert_ne!(here, other);
        }
    }

    #[test]
    fn the_order_of_asking_does_not_matter() {
        let mut streams = Seed(4).streams(Stage::Propose, 2);
        for index in [9, 8, 0, 31, 9, 1 << 40, 8] {
            let direct = Seed(4).stream(Stage::Propose, 2, index).next_u64();
            assert_eq!(streams.at(index).next_u64(), direct, "index {index}");
        }
    }

    /// A change of this value changes every result of every run: it belongs into CHANGELOG.md.
    #[test]
    fn the_address_scheme_is_frozen() {
        assert_eq!(Seed(1).stream(Stage::Propose, 2, 3).next_u64(), 12_187_596_877_337_448_575);
    }
}
