//! The guide: every block of code in docs/ is run, read, compared with a file, or says why not.

mod blocks;
mod commands;
mod mentions;
mod problems;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::program;
use blocks::{Block, blocks, lend, pages, root};

/// Where a page's problems are completed from unless it names another folder.
const USUAL_FOLDER: &str = "examples/death";

/// A test for each page, so that they run side by side.
macro_rules! pages {
    ($($test:ident: $page:literal),* $(,)?) => {
        const TESTED: &[&str] = &[$($page),*];
        $(#[test]
        fn $test() {
            walk($page);
        })*
    };
}

pages! {
    summary: "SUMMARY.md",
    clusters: "clusters.md",
    coming_from: "coming-from.md",
    commands_page: "commands.md",
    contract: "contract.md",
    failures: "failures.md",
    gallery: "gallery.md",
    method: "method.md",
    networks: "networks.md",
    one_page: "one-page.md",
    problem_file: "problem-file.md",
    programs: "programs.md",
    python: "python.md",
    report: "report.md",
    reproduction: "reproduction.md",
    runs: "runs.md",
    start_cluster: "start-cluster.md",
    start_network: "start-network.md",
    start_program: "start-program.md",
    start_python: "start-python.md",
    start_table: "start-table.md",
    studies: "studies.md",
    tables: "tables.md",
    trust: "trust.md",
    weights: "weights.md",
}

#[test]
fn every_page_has_a_test() {
    assert_eq!(pages(), TESTED.iter().map(|page| (*page).to_owned()).collect::<Vec<_>>());
}

/// Goes through a page from top to bottom, in one folder, and leaves a list of what was done with its blocks.
fn walk(page: &str) {
    let here = tempfile::tempdir().unwrap();
    let mut printed = String::new();
    let mut done: Vec<String> = Vec::new();
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    for block in blocks(page) {
        let what = treat(&block, here.path(), &mut printed);
        *tally.entry(what).or_default() += 1;
        done.push(format!("{} {}: {what}", block.place(), block.language));
    }
    let tally: Vec<String> = tally.iter().map(|(what, count)| format!("{count} {what}")).collect();
    done.push(format!("docs/{page}: {}", tally.join(", ")));
    let lists = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    fs::create_dir_all(&lists).unwrap();
    fs::write(lists.join(format!("{page}.txt")), done.join("\n") + "\n").unwrap();
}

/// What is done with a block, in a word or two.
fn treat(block: &Block, here: &Path, printed: &mut String) -> &'static str {
    if let Some(folder) = block.remark("folder") {
        lend(folder, here);
    }
    if let Some(file) = block.remark("same as") {
        let known = fs::read_to_string(root().join(file)).unwrap();
        assert!(known.contains(&block.text), "{}: this is not in {file}", block.place());
    }
    if let Some(file) = block.remark("file") {
        let path = here.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &block.text).unwrap();
    }
    if let Some(why) = block.remark("not run") {
        assert!(why.len() > 5, "{}: say why it is not run", block.place());
        return "not run";
    }
    if block.remark("needs").is_some_and(|program| !is_there(program)) {
        return "left out, for want of a program";
    }
    match &*block.language {
        "toml" => {
            lend(USUAL_FOLDER, here);
            if let Err(mistakes) = problems::read(&block.text, here) {
                panic!("{}:\n{mistakes}", block.place());
            }
            "read as a problem"
        }
        "sh" => {
            *printed = commands::run(block, here);
            "run"
        }
        "json" => {
            let read: Result<serde_json::Value, _> = serde_json::from_str(&block.text);
            assert!(read.is_ok(), "{}: {read:?}", block.place());
            "read as JSON"
        }
        // Run by python/tests/test_documents.py.
        "python" if block.remark("file").is_none() => "left to the tests of the Python package",
        "text" if block.remark("printed").is_some() => {
            compare(block, printed);
            "compared with what was printed"
        }
        "text" => "text",
        _ if block.remark("file").is_some() || block.remark("same as").is_some() => "used",
        other => panic!(
            "{}: no test knows what to do with a block of `{other}`; call it text, or write <!-- not run: why --> above it",
            block.place()
        ),
    }
}

/// Every line but `...` is a line of what the last command printed. A column is as wide as the time in it, which is no two
/// times the same: spaces count as one.
fn compare(block: &Block, printed: &str) {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for line in block.text.lines().map(str::trim_end).filter(|line| *line != "...") {
        assert!(
            printed.lines().any(|known| words(known) == words(line)),
            "{}: `{line}` was not printed:\n{printed}",
            block.place()
        );
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Set, it writes the pages anew in place of comparing them.
const WRITE: &str = "UPDATE_GUIDE";

#[test]
fn pages_made_of_definitions_are_up_to_date() {
    for page in ["commands.md", "gallery.md", "problem-file.md"] {
        let path = root().join("docs").join(page);
        let written = fs::read_to_string(&path).unwrap_or_default();
        let made = match page {
            "gallery.md" => with_examples(&written),
            _ => counterpoise_cli::manual(page, &written).unwrap(),
        };
        if std::env::var_os(WRITE).is_some() {
            fs::write(&path, made).unwrap();
        } else {
            assert!(
                made == written,
                "docs/{page} is not what the program says of itself; {WRITE}=1 cargo test -p counterpoise-cli --test cli guide writes it"
            );
        }
    }
}

/// The page of examples, with the title of each example's own page.
fn with_examples(written: &str) -> String {
    let (before, rest) = written.split_once("<!-- made: examples -->").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let mut folders: Vec<_> =
        fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    folders.sort();
    let row = |folder: &std::ffi::OsString| {
        let name = folder.to_str().unwrap();
        let page = fs::read_to_string(root().join("examples").join(name).join("README.md")).ok()?;
        let title = page.lines().next()?.trim_start_matches(['#', ' ']);
        Some(format!("| [`examples/{name}`](../examples/{name}) | {title} |\n"))
    };
    let rows: String = folders.iter().filter_map(row).collect();
    format!("{before}<!-- made: examples -->\n\n| | |\n|---|---|\n{rows}\n<!-- end -->{after}")
}

#[test]
fn every_warning_of_a_run_is_explained() {
    let code = fs::read_to_string(root().join("crates/core/src/diagnose.rs")).unwrap();
    let list = code.split("pub enum Warning {").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    let variants = list.lines().filter_map(|line| line.strip_prefix("    ")?.strip_suffix(" {"));
    let page = fs::read_to_string(root().join("docs/trust.md")).unwrap();
    let mut seen = 0;
    for name in variants {
        let mut id = String::new();
        for letter in name.chars() {
            if letter.is_uppercase() && !id.is_empty() {
                id.push('-');
            }
            id.extend(letter.to_lowercase());
        }
        assert!(
            page.contains(&format!("<a id=\"{id}\"></a>")),
            "docs/trust.md does not explain {name} (id {id})"
        );
        seen += 1;
    }
    assert_eq!(seen, page.matches("<a id=").count(), "docs/trust.md explains a warning that there is not");
}

#[test]
fn the_shape_of_json_is_as_the_contract_says() {
    let promised = blocks("contract.md").into_iter().find(|block| block.language == "json").unwrap();
    let promised: serde_json::Value = serde_json::from_str(&promised.text).unwrap();
    let here = tempfile::tempdir().unwrap();
    lend(USUAL_FOLDER, here.path());
    let small =
        ["--set", "method.simulations=300", "--set", "method.keep=40", "--set", "method.generations=1"];
    let printed =
        program(here.path(), &[&["run", "problem.toml", "--json"], &small[..]].concat()).exits(0).json();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for path in ["", "/parameters/k", "/information", "/seconds"] {
        let (promised, printed) = (promised.pointer(path).unwrap(), printed.pointer(path).unwrap());
        for key in keys(promised) {
            assert!(printed.get(&key).is_some(), "`{key}` is not printed in `{path}`");
        }
    }
}

#[test]
fn pictures_are_what_the_program_draws() {
    let here = tempfile::tempdir().unwrap();
    lend("examples/sir", here.path());
    program(here.path(), &["run", "problem.toml", "--into", "sir", "--quiet"]).exits(0);
    for what in ["marginals", "weights", "predictive"] {
        program(here.path(), &["plot", "sir", "--what", what, "--out", "drawn.svg", "--force"]).exits(0);
        let drawn = fs::read_to_string(here.path().join("drawn.svg")).unwrap();
        let kept = fs::read_to_string(root().join(format!("docs/pictures/sir-{what}.svg"))).unwrap();
        assert!(
            drawn == kept,
            "docs/pictures/sir-{what}.svg is drawn otherwise now; docs/pictures/make draws it again"
        );
    }
}
