//! The program `counterpoise` as a library: typed arguments, then the meaning of a problem file, then the run, then print.

mod args;
mod beside;
mod commands;
pub mod host;
mod interrupt;
mod manual;
mod numbers;
mod output;
mod picture_file;
mod print;
mod problem_file;
mod summary;
mod trouble;
mod version;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

/// Runs the program with the arguments it was started with.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(main_with(&arguments, None))
}

/// The same with other arguments, and perhaps inside another program.
fn main_with(arguments: &[OsString], host: Option<&dyn host::Host>) -> u8 {
    let arguments = match args::Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and versions go to the standard output and are no errors; nobody hears that an output is gone.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(trouble::BAD_INPUT);
        }
    };
    let output = output::Output::new(arguments.quiet);
    let performed = catch_unwind(AssertUnwindSafe(|| {
        let interrupt = interrupt::Interrupt::listen(output);
        commands::perform(&arguments.command, &interrupt, host, output)
    }));
    match performed {
        Ok(Ok(code)) => code,
        Ok(Err(trouble)) => trouble.report(output),
        // The panic has been described on the standard error.
        Err(_) => {
            output.say("error: an invariant of the program is broken; please report the lines above with the problem file");
            trouble::FAILED
        }
    }
}

/// What the bytes of a problem file in `directory` mean: a description in JSON, or every mistake as the user would see
/// it. Nothing is simulated and no program is started. This is for fuzzing and no part of the library's interface.
///
/// # Errors
/// With the mistakes.
#[doc(hidden)]
pub fn read_problem(bytes: &[u8], directory: &Path) -> Result<String, String> {
    problem_file::read_text(bytes, directory).map(|description| description.to_string())
}

/// A page of the guide as the program's own definitions have it: `commands.md` whole, `problem-file.md` with its made parts
/// replaced in the text that is given. This is for tests and no part of the library's interface.
///
/// # Errors
/// If the page lacks a part, or names one that there is not.
#[doc(hidden)]
pub fn manual(page: &str, text: &str) -> Result<String, String> {
    match page {
        "commands.md" => Ok(manual::commands()),
        _ => manual::refreshed(text),
    }
}
