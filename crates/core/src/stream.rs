//! Randomness as a value: every draw is addressed by (seed, stage, generation, index).

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;

use crate::fours::Fours;

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
    /// Choosing what the distance compares.
    Reduce = 6,
    /// Drawing from a finished posterior.
    Draw = 7,
    /// Moving the accepted.
    Adjust = 8,
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
        let (words, _) = self.seeds[start..start + SEED].as_chunks::<8>();
        let mut state = [0; 4];
        state.iter_mut().zip(words).for_each(|(word, &bytes)| *word = u64::from_le_bytes(bytes));
        // The one state that xoshiro never leaves; no seed is known to give it.
        if state == [0; 4] {
            state[0] = 1;
        }
        Stream { state }
    }
}

/// A generator owned by one unit of work: xoshiro256++ of Blackman & Vigna (2021). Concrete, so that stage traits
/// stay object-safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let (value, next) = step(a, b, c, d);
        self.state = next;
        value
    }
}

impl Stream {
    /// A uniform variate between 0 and 1, both excluded.
    ///
    /// A value of xoshiro256+, which the authors made for this use: the same states as those of xoshiro256++, and
    /// fewer operations on them, at the price of low bits that a float does not need.
    #[inline(always)]
    pub fn uniform(&mut self) -> f64 {
        let [a, b, c, d] = self.state;
        (_, self.state) = step(a, b, c, d);
        open_uniform(a.wrapping_add(d))
    }

    /// A seed for a generator outside this process: 1 to 2^31 - 1, which every language can hold and every generator
    /// takes (`set.seed` of R wants no more than 31 bits, readers of JSON lose what exceeds 53, and some
    /// generators take 0 for 1).
    pub fn external_seed(&mut self) -> u32 {
        1 + (self.next() % ((1 << 31) - 1)) as u32
    }
}

/// One value of xoshiro256++ and the state after it.
#[inline(always)]
fn step(a: u64, b: u64, c: u64, d: u64) -> (u64, [u64; 4]) {
    let value = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
    let (c, d) = (c ^ a, d ^ b);
    (value, [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)])
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}

/// `4 Q` streams side by side, in fours: each gives the variates that it would give alone.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub struct Lanes<const Q: usize> {
    state: [[[u64; 4]; Q]; 4],
}

impl<const Q: usize> Default for Lanes<Q> {
    fn default() -> Self {
        Self { state: [[[1; 4]; Q]; 4] }
    }
}

impl<const Q: usize> Lanes<Q> {
    /// Puts a stream into a lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, stream: &Stream) {
        for (words, word) in self.state.iter_mut().zip(stream.state) {
            words[lane / 4][lane % 4] = word;
        }
    }

    /// The stream in a lane, as far as it has come.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, lane: usize) -> Stream {
        Stream { state: self.state.map(|words| words[lane / 4][lane % 4]) }
    }

    /// [`Stream::uniform`] of every lane.
    #[inline(always)]
    pub fn uniforms<F: Fours>(&mut self, fours: F) -> [F::Four; Q] {
        let mut uniforms = [fours.splat(0.0); Q];
        for (q, uniform) in uniforms.iter_mut().enumerate() {
            let (a, b) = (fours.load_bits(&self.state[0][q]), fours.load_bits(&self.state[1][q]));
            let (c, d) = (fours.load_bits(&self.state[2][q]), fours.load_bits(&self.state[3][q]));
            // `step`, without its value.
            let (c, turned, shifted) = (fours.xor(c, a), fours.xor(d, b), fours.up::<17>(b));
            let rotated = fours.or(fours.up::<45>(turned), fours.down::<19>(turned));
            self.state[0][q] = fours.store_bits(fours.xor(a, turned));
            self.state[1][q] = fours.store_bits(fours.xor(b, c));
            self.state[2][q] = fours.store_bits(fours.xor(c, shifted));
            self.state[3][q] = fours.store_bits(rotated);
            // `open_uniform`.
            let mantissa = fours.or(fours.down::<12>(fours.sum(a, d)), fours.splat_bits(ONE));
            *uniform = fours.subtract(fours.of_bits(mantissa), fours.splat(BELOW_ONE));
        }
        uniforms
    }
}

/// The bits of 1, and a number below it by half of its last bit.
const ONE: u64 = 0x3ff0_0000_0000_0000;
const BELOW_ONE: f64 = 1.0 - 0.5 * f64::EPSILON;

/// The upper 52 bits as one of the 2^52 odd multiples of 2^-53.
#[inline(always)]
fn open_uniform(value: u64) -> f64 {
    f64::from_bits(value >> 12 | ONE) - BELOW_ONE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fours::Plain;
    use rand_xoshiro::Xoshiro256PlusPlus;

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

    #[test]
    fn values_are_those_of_xoshiro() {
        let mut stream = Stream { state: [1, 2, 3, 4] };
        let mut seed = [0; 32];
        [0, 8, 16, 24].into_iter().zip(1..).for_each(|(at, word)| seed[at] = word);
        let mut oracle = Xoshiro256PlusPlus::from_seed(seed);
        for _ in 0..1000 {
            assert_eq!(stream.next_u64(), oracle.next_u64());
            assert_eq!(stream.next_u32(), oracle.next_u32());
            let (mut bytes, mut expected) = ([0; 13], [0; 13]);
            stream.fill_bytes(&mut bytes);
            oracle.fill_bytes(&mut expected);
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn a_lane_gives_what_its_stream_gives_alone() {
        let mut streams: [Stream; 8] =
            std::array::from_fn(|lane| Seed(1).stream(Stage::Simulate, 0, lane as u64));
        let mut lanes = Lanes::<2>::default();
        streams.iter().enumerate().for_each(|(lane, stream)| lanes.set(lane, stream));
        for _ in 0..100 {
            let uniforms = lanes.uniforms(Plain);
            for (stream, &uniform) in streams.iter_mut().zip(uniforms.as_flattened()) {
                let value = stream.state[0].wrapping_add(stream.state[3]);
                assert_eq!(uniform, ((value >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0);
                assert_eq!(uniform, stream.clone().uniform());
                stream.next_u64();
                assert!(uniform > 0.0 && uniform < 1.0);
            }
        }
        assert!(streams.iter().enumerate().all(|(lane, stream)| lanes.get(lane) == *stream));
        assert_eq!((open_uniform(0), open_uniform(u64::MAX)), (0.5 * f64::EPSILON, 1.0 - 0.5 * f64::EPSILON));
    }

    /// A change of this value changes every result of every run: it belongs into CHANGELOG.md.
    #[test]
    fn the_address_scheme_is_frozen() {
        assert_eq!(Seed(1).stream(Stage::Propose, 2, 3).next_u64(), 12_187_596_877_337_448_575);
    }
}
