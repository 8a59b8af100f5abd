//! Inner loops compiled for the vectors of the machine they run on.

use pulp::{Arch, NullaryFnOnce};

/// A loop, with all that it needs. `run` must be `#[inline(always)]`, and so must all that it calls: only what
/// is inlined into the dispatch is compiled for the wider vectors.
///
/// A trait and not a closure: a closure that borrows is called through a shim that is never inlined.
pub trait Loop {
    /// What it computes.
    type Output;
    /// Runs it.
    fn run(self) -> Self::Output;
}

struct Inlined<L>(L);

impl<L: Loop> NullaryFnOnce for Inlined<L> {
    type Output = L::Output;

    #[inline(always)]
    fn call(self) -> L::Output {
        self.0.run()
    }
}

/// Runs `body` with the widest vectors at hand. Results do not depend on the width: loops add in a fixed order
/// and never fuse a multiplication with an addition.
pub fn vectorised<L: Loop>(body: L) -> L::Output {
    Arch::new().dispatch(Inlined(body))
}
