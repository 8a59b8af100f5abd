//! `sbml`: what a file contains, what can be inferred of it, and how to begin.

use std::path::Path;

use anyhow::anyhow;
use counterpoise_networks::sbml::{Counts, MOST_BYTES, Model, Problem, read};
use serde_json::{Map, Value, json};

use crate::args::SbmlArguments;
use crate::output::Output;
use crate::print::json;
use crate::print::list::listed;
use crate::print::number::significant;
use crate::print::table::{Align, lines, wrapped};
use crate::problem_file::read_bounded;
use crate::trouble::{BAD_INPUT, DONE, Trouble};

/// Lines of one kind, and names in a line, that a person is shown.
const SHOWN: usize = 40;
const NAMED: usize = 20;
const PAGE: usize = 110;

/// Describes an SBML file.
pub(crate) fn sbml(arguments: &SbmlArguments, output: Output) -> Result<u8, Trouble> {
    let path = arguments.file.display();
    let unreadable = |reason: String| Trouble::input(anyhow!("cannot read {path}: {reason}"), None);
    let bytes = read_bounded(&arguments.file, MOST_BYTES as u64).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        unreadable(format!("byte {at} is not UTF-8"))
    })?;
    match read(&text) {
        Ok(model) => {
            let report = describe(&model, &arguments.file);
            let page = if arguments.json { json::object(&report)? } else { page(&report) };
            output.result(&page)?;
            Ok(DONE)
        }
        Err(problems) => {
            if arguments.json {
                let report =
                    json!({ "file": path.to_string(), "supported": false, "problems": places(&problems) });
                output.result(&json::object(&report)?)?;
            }
            for problem in &problems {
                output.say(&format!("error: {path}:{problem}"));
            }
            if problems.len() > 1 {
                output.say(&format!("{} problems; the model cannot be simulated", problems.len()));
            }
            Ok(BAD_INPUT)
        }
    }
}

fn places(problems: &[Problem]) -> Value {
    let place = |Problem { line, column, message }: &Problem| json!({ "line": line, "column": column, "message": message });
    problems.iter().map(place).collect()
}

fn describe(model: &Model, path: &Path) -> Value {
    let Counts { compartments, species, parameters, local_parameters, functions, .. } = model.counts();
    let Counts { initial_assignments, rules, reactions, events, .. } = model.counts();
    let (level, version) = model.level();
    let inferable: Map<String, Value> =
        model.inferable().into_iter().map(|(name, value)| (name, json!(value))).collect();
    let listed: Map<String, Value> =
        model.reactions().into_iter().map(|(id, text)| (id, text.into())).collect();
    json!({
        "file": path.display().to_string(),
        "supported": true,
        "name": model.name(),
        "level": level,
        "version": version,
        "counts": {
            "compartments": compartments, "species": species, "parameters": parameters,
            "local_parameters": local_parameters, "functions": functions,
            "initial_assignments": initial_assignments, "rules": rules, "reactions": reactions, "events": events,
        },
        "species": model.species(),
        "reactions": listed,
        "rules": model.rules(),
        "events": model.events(),
        "inferable": inferable,
        "warnings": places(model.warnings()),
        "problems": [],
        "problem_file": beginning(model, path),
    })
}

/// A text as TOML writes it: what JSON escapes, TOML does in the same way.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A problem file's sections to start from: rate constants within a factor of ten of the file's.
fn beginning(model: &Model, path: &Path) -> String {
    let mut text = String::from("[parameters]\n");
    let (species, compartments) = (model.species(), model.compartments());
    for (name, value) in model.inferable() {
        let key = if name.contains('.') { quoted(&name) } else { name.clone() };
        let number = |value: f64| significant(value, 6);
        let (law, note) = if value > 0.0 {
            let (low, high) = (number(value / 10.0), number(value * 10.0));
            (
                format!("{{ law = \"log-uniform\", low = {low}, high = {high} }}"),
                format!("{} in the file", number(value)),
            )
        } else if value.is_nan() {
            ("{ law = \"uniform\", low = 0, high = 1 }".to_owned(), "no value in the file".to_owned())
        } else {
            ("{ law = \"uniform\", low = 0, high = 1 }".to_owned(), format!("{} in the file", number(value)))
        };
        // Sizes and initial amounts are seldom what is sought, unless the file leaves them open.
        let seldom = species.contains(&name) || compartments.contains(&name);
        let mark = if seldom && (!value.is_nan() || compartments.contains(&name)) { "# " } else { "" };
        text += &format!("{mark}{key} = {law}  # {note}\n");
    }
    let names: Vec<String> = species.iter().map(|name| quoted(name)).collect();
    text += &format!(
        "\n[model.sbml]\nfile = {}  # relative to the problem file\ntimes = {{ to = 50, count = 10 }}\nobserve = [{}]\n",
        quoted(&path.display().to_string()),
        names.join(", ")
    );
    text
}

fn page(report: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut page = format!("{}: ", text(&report["file"]));
    if let Some(name) = report["name"].as_str().filter(|name| !name.is_empty()) {
        page += &format!("{name}, ");
    }
    page += &format!("SBML Level {} Version {}\n", report["level"], report["version"]);
    let counts = report["counts"].as_object().into_iter().flatten();
    let counts = counts.filter(|(_, count)| count.as_u64() != Some(0));
    page += &format!(
        "{}\n",
        listed(counts.map(|(what, count)| format!("{count} {}", what.replace('_', " "))), NAMED)
    );
    let species = report["species"].as_array().into_iter().flatten().filter_map(Value::as_str);
    page += &format!("species: {}\n", listed(species, NAMED));
    let reactions = report["reactions"].as_object().into_iter().flatten();
    let reactions = reactions.map(|(id, reaction)| vec![format!("  {id}"), text(reaction)]);
    page += &titled("reactions", reactions.collect(), &[Align::Left, Align::Left]);
    for what in ["rules", "events"] {
        let rows = report[what].as_array().into_iter().flatten().map(|row| vec![format!("  {}", text(row))]);
        page += &titled(what, rows.collect(), &[Align::Left]);
    }
    let inferable = report["inferable"].as_object().into_iter().flatten();
    let inferable = inferable.map(|(name, value)| {
        let value = value.as_f64().map_or("no value".into(), |value| significant(value, 6));
        vec![format!("  {name}"), value]
    });
    page += &titled(
        "can be inferred, with the value in the file",
        inferable.collect(),
        &[Align::Left, Align::Right],
    );
    for warning in report["warnings"].as_array().into_iter().flatten() {
        let place = format!("{}:{}", warning["line"], warning["column"]);
        page += "\n";
        page += &wrapped(&format!("warning: {place}: {}", text(&warning["message"])), PAGE, "  ");
    }
    page + &format!("\nto begin with, in a problem file:\n\n{}", text(&report["problem_file"]))
}

/// Lines below a title, if there are any; not more than a person reads.
fn titled(title: &str, mut rows: Vec<Vec<String>>, align: &[Align]) -> String {
    let more = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    match (rows.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("\n{title}:\n{}", lines(&rows, align)),
        (false, more) => format!("\n{title}:\n{}  and {more} more\n", lines(&rows, align)),
    }
}
