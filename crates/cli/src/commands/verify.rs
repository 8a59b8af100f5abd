//! `verify`: whether a directory holds what was written into it.

use counterpoise_run::store::{self, Problem, Report, StoreError};
use serde_json::json;

use super::{shell_words, stored};
use crate::args::VerifyArguments;
use crate::output::Output;
use crate::print::json;
use crate::trouble::{DONE, FAILED, Trouble};

/// Looks at everything; where asked, takes out what is damaged.
pub(crate) fn verify(arguments: &VerifyArguments, output: Output) -> Result<u8, Trouble> {
    let directory = &arguments.directory;
    let trouble = |error: StoreError| stored::trouble(error, directory);
    let mut report = store::verify(directory).map_err(trouble)?;
    let mut done = Vec::new();
    if arguments.salvage && !report.problems.is_empty() {
        if !arguments.json {
            output.result(&page(&directory.display().to_string(), &report))?;
        }
        done = store::salvage(directory).map_err(trouble)?;
        report = store::verify(directory).map_err(trouble)?;
    }
    let name = directory.display().to_string();
    output.result(&if arguments.json {
        json::object(&json!({
            "directory": name,
            "intact": report.problems.is_empty(),
            "format": report.format,
            "generations": report.generations,
            "simulations": report.simulations,
            "waiting": report.waiting,
            "problems": report.problems.iter().map(as_json).collect::<Vec<_>>(),
            "notes": report.notes,
            "salvaged": done,
        }))?
    } else {
        done.iter().map(|line| format!("salvaged: {line}\n")).collect::<String>() + &page(&name, &report)
    })?;
    if report.problems.is_empty() {
        return Ok(DONE);
    }
    if !arguments.salvage {
        let words = ["counterpoise", "verify", &name, "--salvage"].map(str::to_owned);
        output.say(&format!("hint: {} keeps what is whole", shell_words(&words)));
    }
    Ok(FAILED)
}

fn as_json(problem: &Problem) -> serde_json::Value {
    let bytes = problem.bytes.as_ref().map(|bytes| [bytes.start, bytes.end]);
    json!({ "file": problem.file.display().to_string(), "bytes": bytes, "what": problem.what })
}

fn page(directory: &str, report: &Report) -> String {
    let Report { format, generations, simulations, waiting, problems, notes, .. } = report;
    let verdict = if problems.is_empty() { "nothing is wrong" } else { "something is wrong" };
    let mut text = format!(
        "{directory}: {verdict}; format {format}, {generations} whole generations of {simulations} simulations, \
         {waiting} simulations of the next\n"
    );
    for Problem { file, bytes, what } in problems {
        let place = match bytes {
            Some(bytes) if bytes.end - bytes.start == 1 => format!(", byte {}", bytes.start),
            Some(bytes) => format!(", bytes {} to {}", bytes.start, bytes.end - 1),
            None => String::new(),
        };
        text += &format!("damaged: {}{place}: {what}\n", file.display());
    }
    for note in notes {
        text += &format!("note: {note}\n");
    }
    text
}
