//! The program `counterpoise`.

use std::process::ExitCode;

fn main() -> ExitCode {
    counterpoise_cli::main()
}
