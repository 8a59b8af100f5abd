//! A run as a page: written when it is finished, live while it goes on, and as pictures for papers.
//!
//! [`Run::read`] reads a directory without locking or changing it, [`page`] makes one HTML file of it that needs nothing else,
//! [`picture`] a figure for a paper, and [`live::serve`] shows the same page while the run goes on. Nothing is simulated here.

mod figures;
pub mod live;
pub mod number;
mod page;
mod predictive;
mod prior;
mod run;
mod series;
mod shares;

pub use figures::{PictureError, Subject, picture};
pub use page::page;
pub use run::{ReportError, Run};
