//! The native half of the Python package: classes around the engine, and nothing that Python says as well.

mod errors;
mod executor;
mod frame;
mod joint;
mod kept;
mod outcome;
mod problem;
mod program;
mod simulator;
mod table;
mod trouble;

/// The engine.
#[pyo3::pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::frame::Frame;
    #[pymodule_export]
    use crate::outcome::Outcome;
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::program::{command, program};
    #[pymodule_export]
    use crate::table::write_table;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
