//! `watch`: the page of a run while it goes on.

use std::net::SocketAddr;

use counterpoise_report::live::{LiveError, serve};

use super::report;
use crate::args::WatchArguments;
use crate::output::Output;
use crate::trouble::{DONE, Trouble};

/// Serves the page until it is interrupted.
pub(crate) fn watch(arguments: &WatchArguments, output: Output) -> Result<u8, Trouble> {
    let address = SocketAddr::new(arguments.bind, arguments.port);
    if !arguments.bind.is_loopback() {
        output
            .say("others can reach this page: keep the token in its address to yourself and those you trust");
    }
    let ready = |url: &str| {
        // Somebody waits for this line: it is the result.
        let _ = output.result(&format!("{url}\n"));
        output.note("open it in a browser; an interrupt ends the page and not the run");
    };
    match serve(&arguments.directory, address, ready) {
        Ok(()) => Ok(DONE),
        Err(LiveError::Report(error)) => Err(report::refused(error, &arguments.directory)),
        Err(error @ LiveError::Listen { .. }) => {
            Err(Trouble::input(error, "--port 0 takes any port that is free".to_owned()))
        }
        Err(error) => Err(Trouble::failed(error, None)),
    }
}
