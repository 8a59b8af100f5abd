//! Numbers of many trajectories side by side.

use std::ops::{Deref, DerefMut};

use crate::expression::program::Numbers;

/// A number of every lane, where loads and stores of a four stay within a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Wide<const Q: usize>(pub(super) [[f64; 4]; Q]);

impl<const Q: usize> Wide<Q> {
    pub(super) const fn splat(value: f64) -> Self {
        Self([[value; 4]; Q])
    }
}

impl<const Q: usize> Deref for Wide<Q> {
    type Target = [[f64; 4]; Q];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<const Q: usize> DerefMut for Wide<Q> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<const Q: usize> Numbers for Wide<Q> {
    #[inline(always)]
    fn map([a, b, c]: [Self; 3], f: impl Fn(f64, f64, f64) -> f64) -> Self {
        let mut values = Self::splat(0.0);
        for q in 0..Q {
            for k in 0..4 {
                values[q][k] = f(a[q][k], b[q][k], c[q][k]);
            }
        }
        values
    }
}
