//! `init`: a folder with a problem that runs as it is.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, anyhow};
use serde_json::Value;

use super::run::default_directory;
use crate::args::InitArguments;
use crate::output::Output;
use crate::trouble::{DONE, Trouble};

/// The problem file of every template.
const PROBLEM: &str = "problem.toml";

/// A template: its name and its files.
struct Template {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// A file of a template, embedded in the program.
macro_rules! file {
    ($name:literal, $path:literal) => {
        ($name, include_str!(concat!("../../templates/", $path)))
    };
}

/// A file of an example.
macro_rules! example {
    ($folder:literal, $name:literal) => {
        ($name, include_str!(concat!("../../../../examples/", $folder, "/", $name)))
    };
}

const TEMPLATES: [Template; 8] = [
    Template {
        name: "death",
        files: &[file!("problem.toml", "death/problem.toml"), example!("death", "observed.csv")],
    },
    Template { name: "network", files: &[example!("sir", "problem.toml"), example!("sir", "observed.csv")] },
    Template {
        name: "python",
        files: &[
            file!("problem.toml", "python/problem.toml"),
            file!("simulate.py", "python/simulate.py"),
            file!("counterpoise_serve.py", "helpers/counterpoise_serve.py"),
            file!("observed.csv", "growth.csv"),
        ],
    },
    Template {
        name: "r",
        files: &[
            file!("problem.toml", "r/problem.toml"),
            file!("simulate.R", "r/simulate.R"),
            file!("counterpoise.R", "helpers/counterpoise.R"),
            file!("observed.csv", "growth.csv"),
        ],
    },
    Template {
        name: "shell",
        files: &[
            file!("problem.toml", "shell/problem.toml"),
            file!("simulate.sh", "shell/simulate.sh"),
            file!("observed.csv", "growth.csv"),
        ],
    },
    Template {
        name: "julia",
        files: &[
            file!("problem.toml", "julia/problem.toml"),
            file!("simulate.jl", "julia/simulate.jl"),
            file!("counterpoise.jl", "helpers/counterpoise.jl"),
            file!("observed.csv", "growth.csv"),
        ],
    },
    Template {
        name: "table",
        files: &[
            file!("problem.toml", "table/problem.toml"),
            file!("simulations.csv", "table/simulations.csv"),
        ],
    },
    Template {
        name: "sbml",
        files: &[
            example!("sbml", "problem.toml"),
            example!("sbml", "gene.xml"),
            example!("sbml", "observed.csv"),
        ],
    },
];

/// Names of the templates, in the order in which they are listed.
pub(crate) const NAMES: [&str; TEMPLATES.len()] = {
    let (mut names, mut at) = ([""; TEMPLATES.len()], 0);
    while at < names.len() {
        names[at] = TEMPLATES[at].name;
        at += 1;
    }
    names
};

/// Makes a folder, which must not be there yet.
pub(crate) fn init(arguments: &InitArguments, output: Output) -> Result<u8, Trouble> {
    let folder = &*arguments.name;
    let template = TEMPLATES.iter().find(|template| template.name == arguments.template);
    let template = template.ok_or_else(|| Trouble::input(anyhow!("there is no such template"), None))?;
    let name = folder.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        let hint = "counterpoise init my-problem".to_owned();
        Trouble::input(anyhow!("{} is not a name for a folder", folder.display()), hint)
    })?;
    create(folder)?;
    for (file, text) in template.files {
        let text = if *file == PROBLEM { adapted(text, name) } else { (*text).to_owned() };
        write(&folder.join(file), &text).map_err(|error| Trouble::failed(error, None))?;
    }
    let problem = folder.join(PROBLEM);
    let files: Vec<&str> = template.files.iter().map(|(file, _)| *file).collect();
    let word = |path: &Path| super::shell_word(&path.display().to_string());
    let (problem, run) = (word(&problem), word(&default_directory(name)));
    output.result(&format!(
        "{} holds {}\n\n\
         counterpoise check {problem}    # finds mistakes, says what a run will cost\n\
         counterpoise run {problem}      # infers the parameters\n\
         counterpoise report {run}   # draws them on a page for the browser\n",
        folder.display(),
        files.join(", "),
    ))?;
    Ok(DONE)
}

/// Makes the folder and those above it; one that exists belongs to somebody.
fn create(folder: &Path) -> Result<(), Trouble> {
    let parent = folder.parent().unwrap_or(Path::new(""));
    let made = if parent.as_os_str().is_empty() { Ok(()) } else { fs::create_dir_all(parent) };
    made.and_then(|()| fs::create_dir(folder)).map_err(|error| {
        let hint = (error.kind() == ErrorKind::AlreadyExists)
            .then(|| "nothing is overwritten: choose another name".to_owned());
        let context = format!("cannot make the folder {}", folder.display());
        Trouble::input(anyhow::Error::from(error).context(context), hint)
    })
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let open = || OpenOptions::new().write(true).create_new(true).open(path);
    open()
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The problem file with the folder's name, and with commands as they are typed outside of this repository.
fn adapted(text: &str, name: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("name = ") {
            return format!("name = {}\n", Value::from(name));
        }
        match line.split_once("cargo run --release -- ") {
            Some((before, command)) => {
                let command = command.split_whitespace().next().unwrap_or("run");
                format!("{before}counterpoise {command} {PROBLEM}\n")
            }
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples have copies, so that they can be taken as they are.
    #[test]
    fn the_helper_is_the_same_everywhere() {
        let python = include_str!("../../templates/helpers/counterpoise_serve.py");
        assert_eq!(python, include_str!("../../../../examples/ricker/counterpoise_serve.py"));
        assert_eq!(python, include_str!("../../../../examples/g-and-k/counterpoise_serve.py"));
        assert_eq!(python, include_str!("../../../../examples/ma2/counterpoise_serve.py"));
        let r = include_str!("../../templates/helpers/counterpoise.R");
        assert_eq!(r, include_str!("../../../../examples/queue/counterpoise.R"));
    }

    #[test]
    fn every_template_has_a_problem_with_a_name_of_its_own() {
        for template in &TEMPLATES {
            let (_, text) = template.files.iter().find(|(name, _)| *name == PROBLEM).unwrap();
            let text = adapted(text, "my \"own\"");
            assert!(text.contains("\nname = \"my \\\"own\\\"\"\n"), "{}:\n{text}", template.name);
            assert!(text.contains("\n#     counterpoise run problem.toml"), "{}:\n{text}", template.name);
            assert!(!text.contains("cargo") && !text.contains("examples/"), "{}:\n{text}", template.name);
        }
    }
}
