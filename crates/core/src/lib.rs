//! ABC-SMC as a chain of pure stages:
//! `problem -> propose -> simulate -> reduce -> weigh -> select -> population`.
//!
//! Nothing here reads a clock, a file, a thread or ambient randomness.

pub mod adjust;
pub mod diagnose;
pub mod digest;
mod digits;
pub mod divergence;
mod drawers;
mod elementary;
mod energy;
pub mod fours;
mod influence;
pub mod judge;
mod linear;
mod near;
pub mod packed;
mod pool;
pub mod population;
mod positive;
pub mod problem;
mod products;
pub mod propose;
pub mod reduce;
mod ridge;
pub mod search;
pub mod select;
pub mod simulate;
pub mod stacked;
pub mod stop;
pub mod stream;
pub mod summary;
pub mod table;
pub mod trials;
pub mod variates;
pub mod vectors;
pub mod view;
pub mod weigh;
pub mod workers;
