//! Commands of the pages, run where the page's files are, and smaller than they stand there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::{Done, program};
use super::blocks::Block;

/// What a study of the page becomes, so that all pages together take seconds.
const SMALL: [(&str, &str); 3] =
    [("method.simulations", "300"), ("method.keep", "40"), ("method.generations", "2")];
const DATASETS: &str = "2";
const ROWS: &str = "100";

/// Runs every line of a block; what the last command printed.
pub(super) fn run(block: &Block, here: &Path) -> String {
    let mut folder = here.to_path_buf();
    let mut printed = String::new();
    for line in lines(&block.text) {
        let mut words = words(&line);
        let into = redirected(&mut words);
        match words.first().map(String::as_str) {
            None => continue,
            Some("cd") => folder = folder.join(&words[1]),
            Some("counterpoise") => {
                let done = ours(block, &words[1..], &folder);
                printed = done.stdout;
                if let Some(file) = into {
                    fs::write(folder.join(file), &printed).unwrap();
                }
            }
            Some("c++" | "cmp") => theirs(block, &words, &folder),
            Some(other) => panic!(
                "{}: no test knows how to run `{other}`; write <!-- not run: why --> above the block",
                block.place()
            ),
        }
    }
    printed
}

fn ours(block: &Block, words: &[String], folder: &Path) -> Done {
    let whole = block.remark("whole").is_some();
    let words = if whole { words.to_vec() } else { smaller(words, folder) };
    let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = program(folder, &arguments);
    let expected: i32 = block.remark("exits").map_or(0, |code| code.parse().unwrap());
    assert_eq!(
        done.code,
        expected,
        "{}: counterpoise {}\n{}\n{}",
        block.place(),
        words.join(" "),
        done.stdout,
        done.stderr
    );
    done
}

fn theirs(block: &Block, words: &[String], folder: &Path) {
    let status = Command::new(&words[0]).args(&words[1..]).current_dir(folder).status();
    assert!(status.is_ok_and(|status| status.success()), "{}: {} failed", block.place(), words.join(" "));
}

/// Lines without comments, those that go on in the next put together.
fn lines(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let plain = |line: &str| match line.split_once(" #") {
        Some((command, _)) => command.trim().to_owned(),
        None => line.trim().to_owned(),
    };
    let commands = joined.lines().map(plain).filter(|line| !line.is_empty() && !line.starts_with('#'));
    commands.map(|line| line.strip_prefix("$ ").map_or(line.clone(), str::to_owned)).collect()
}

/// Words of a command; quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Takes `> FILE` off a command.
fn redirected(words: &mut Vec<String>) -> Option<PathBuf> {
    let at = words.iter().position(|word| word == ">")?;
    let file = words.get(at + 1).map(PathBuf::from);
    words.truncate(at);
    file
}

/// The same command with less to do.
fn smaller(words: &[String], folder: &Path) -> Vec<String> {
    let mut words = words.to_vec();
    for (option, value) in [("--datasets", DATASETS), ("--rows", ROWS)] {
        if let Some(at) = words.iter().position(|word| word == option) {
            words[at + 1] = value.into();
        }
    }
    let study = ["run", "compare", "calibrate"].contains(&words[0].as_str());
    if !study {
        return words;
    }
    if words[0] != "run" && !words.iter().any(|word| ["--datasets", "--observed"].contains(&word.as_str())) {
        words.extend(["--datasets".into(), DATASETS.into()]);
    }
    let problem = fs::read_to_string(folder.join(&words[1])).unwrap_or_default();
    if problem.contains("[model.table]") {
        return words;
    }
    for (key, value) in SMALL {
        if !words.iter().any(|word| word.starts_with(key)) {
            words.extend(["--set".into(), format!("{key}={value}")]);
        }
    }
    words
}

#[test]
fn commands_are_read_and_made_smaller() {
    let found = lines("# all\n$ a b \\\n    c   # why\n\nd\n");
    assert_eq!(found, ["a b      c", "d"]);
    let mut split = words("calibrate p.toml --datasets 100 --set 'method.name=a b' --json > c.json");
    assert_eq!(redirected(&mut split), Some("c.json".into()));
    assert_eq!(split[5], "method.name=a b");
    let small = smaller(&split, Path::new("/nowhere"));
    assert_eq!(small[3], DATASETS);
    assert!(small.ends_with(&["--set".to_owned(), "method.generations=2".to_owned()]), "{small:?}");
}
