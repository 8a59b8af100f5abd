//! The edges of Counterpoise: the loop over generations, executors that run simulations, stores that keep
//! them. Clocks, threads and files live here and not in the core.

pub mod clock;
pub mod command;
pub mod drive;
pub mod executor;
pub mod given;
mod outcome;
pub mod pool;
mod recall;
mod simulate;
pub mod store;
pub mod study;
