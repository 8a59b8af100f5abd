//! Problem files and parts of them, read as the program reads them.

use std::fs;
use std::path::Path;

use super::super::program;

/// Where the tables come from that a part leaves out.
const USUAL: &str = "problem.toml";

/// Reads a problem file or a part of one, completed by the tables of the folder's own.
///
/// # Errors
/// With the program's mistakes.
pub(super) fn read(text: &str, here: &Path) -> Result<(), String> {
    let base = fs::read_to_string(here.join(USUAL)).unwrap_or_default();
    let has = |name: &str| tables(text).iter().any(|(known, _)| *known == name);
    // The data of another model would not fit.
    let own = match has("model") && !has("observed") && !text.contains("[model.table]") {
        true => format!("{text}\n[observed]\ntruth = {{ {} }}\n", somewhere(text).join(", ")),
        false => text.to_owned(),
    };
    let whole = complete(&own, &base);
    if whole.contains("[model.command]") {
        return read_program(&whole, here);
    }
    counterpoise_cli::read_problem(whole.as_bytes(), here).map(|_| ())
}

/// The same where a program would be started: another takes its place, since the words of the page may not exist here.
fn read_program(whole: &str, here: &Path) -> Result<(), String> {
    let parameters = tables(whole).into_iter().find(|(name, _)| *name == "parameters");
    let parameters = parameters.map(|(_, text)| text).unwrap_or_default();
    let names =
        parameters.lines().skip(1).filter_map(|line| line.split_once('=').map(|(name, _)| name.trim()));
    let names: Vec<&str> = names.filter(|name| !name.starts_with('#')).collect();
    let once = whole.contains("\"once\"");
    let words = match once {
        true => names.iter().map(|name| format!(", \"{{{name}}}\"")).collect(),
        false => String::new(),
    };
    let program = match once {
        true => "print(1.5)\n",
        false => {
            "import json, sys\nprint(json.dumps({'ready': True, 'statistics': ['s1']}), flush=True)\n\
             for line in sys.stdin:\n    print(json.dumps({'id': json.loads(line)['id'], 'statistics': [1.5]}), flush=True)\n"
        }
    };
    fs::write(here.join("stand_in.py"), program).unwrap();
    let stand_in = format!("run = [\"python3\", \"stand_in.py\"{words}]");
    let line = |line: &str| if line.starts_with("run ") { stand_in.clone() } else { line.to_owned() };
    let mut kept: Vec<String> = tables(whole)
        .iter()
        .filter(|(name, _)| *name != "observed")
        .map(|(_, text)| text.lines().map(line).collect::<Vec<_>>().join("\n"))
        .collect();
    kept.push("[observed]\nvalues = { s1 = 1.5 }\n".into());
    fs::write(here.join("with_stand_in.toml"), kept.join("\n")).unwrap();
    let done = program_of(here);
    if done.0 == 0 { Ok(()) } else { Err(done.1) }
}

/// Values of the parameters that the prior allows: the first number of each law.
fn somewhere(text: &str) -> Vec<String> {
    let parameters = tables(text).into_iter().find(|(name, _)| *name == "parameters");
    let parameters = parameters.map(|(_, text)| text).unwrap_or_default();
    let value = |line: &str| {
        let (name, law) = line.split_once('=')?;
        let number = law.split(['=', ',', '}']).map(str::trim).find(|word| word.parse::<f64>().is_ok())?;
        Some(format!("{} = {number}", name.trim()))
    };
    parameters.lines().skip(1).filter_map(value).collect()
}

fn program_of(here: &Path) -> (i32, String) {
    let done = program(here, &["check", "with_stand_in.toml"]);
    (done.code, done.stdout + &done.stderr)
}

/// A part and those tables of a problem file that it does not have.
fn complete(part: &str, base: &str) -> String {
    let have: Vec<&str> = tables(part).into_iter().map(|(name, _)| name).collect();
    let missing = tables(base).into_iter().filter(|(name, _)| !name.is_empty() && !have.contains(name));
    missing.fold(part.to_owned(), |whole, (_, text)| whole + "\n" + &text)
}

/// The tables of a file at its top, by name; what stands before the first has none.
fn tables(text: &str) -> Vec<(&str, String)> {
    let mut tables: Vec<(&str, String)> = vec![("", String::new())];
    for line in text.lines() {
        if let Some(header) = line.strip_prefix('[') {
            let name = header.split([']', '.']).next().unwrap_or_default();
            if tables.last().is_none_or(|(last, _)| *last != name) {
                tables.push((name, String::new()));
            }
        }
        if let Some((_, table)) = tables.last_mut() {
            *table += line;
            *table += "\n";
        }
    }
    tables
}

#[test]
fn parameters_are_put_where_the_prior_allows() {
    let text = "[parameters]\nk = { law = \"uniform\", low = 1e-3, high = 2 } # why\n[model]\nx = 1\n";
    assert_eq!(somewhere(text), ["k = 1e-3"]);
}

#[test]
fn a_part_is_completed() {
    let base = "name = \"b\"\n[parameters]\nk = 1\n[model.network]\nx = 1\n[method]\nseed = 1\n";
    let whole = complete("name = \"a\"\n[model]\nbuiltin = \"toy\"\n", base);
    assert_eq!(
        whole,
        "name = \"a\"\n[model]\nbuiltin = \"toy\"\n\n[parameters]\nk = 1\n\n[method]\nseed = 1\n"
    );
}
