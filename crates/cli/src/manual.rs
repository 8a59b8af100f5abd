//! Pages of the guide that are made of the program's own definitions.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::args::Arguments;
use crate::problem_file::manual;

/// What begins and ends a made part of a page.
const BEGIN: &str = "<!-- made: ";
const END: &str = "<!-- end -->";

/// The page of all commands.
#[must_use]
pub(crate) fn commands() -> String {
    let mut program = Arguments::command();
    program.build();
    let mut page = "# Commands\n\nThis page is made of the program's own definitions; `counterpoise COMMAND --help` says the same.\n\n\
                    Results go to the standard output, everything else to the standard error. Exit codes: 0 done, 1 failed, 2 bad input, \
                    3 stopped before its end by a limit or by you. `--quiet` (`-q`) prints results and errors only. Nothing is overwritten unless `--force` says so.\n\n"
        .to_owned();
    // Those for a shell are left out of the help, which fits a screen, and not of the reference.
    let shown = |command: &&Command| command.get_name() != "help";
    let all: Vec<&Command> = program.get_subcommands().filter(shown).collect();
    page += "| command | does |\n|---|---|\n";
    for command in &all {
        let name = command.get_name();
        page += &format!("| [`{name}`](#{name}) | {} |\n", about(command));
    }
    for command in all {
        page += &section(command);
    }
    page
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn section(command: &Command) -> String {
    let name = command.get_name();
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !["help", "version", "quiet"].contains(&arg.get_id().as_str()))
        .collect();
    let mut text =
        format!("\n## {name}\n\n{}.\n\n```text\n{}\n```\n\n", about(command), usage(command, &own));
    text += "| argument | means |\n|---|---|\n";
    for arg in own {
        text += &format!("| {} | {} |\n", shown(arg), means(arg));
    }
    text
}

/// The command with its arguments in a line; those that may be left out in brackets.
fn usage(command: &Command, own: &[&Arg]) -> String {
    let word = |arg: &&Arg| {
        let plain = spelled(arg);
        if arg.is_required_set() { plain } else { format!("[{plain}]") }
    };
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = own.iter().partition(|arg| arg.is_positional());
    let words = positional.iter().chain(&options).map(word);
    format!("counterpoise {} {}", command.get_name(), words.collect::<Vec<_>>().join(" "))
}

/// An argument as it is typed.
fn spelled(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes = !matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count);
    match arg.get_long() {
        None => values.join(" "),
        Some(long) if !takes => format!("--{long}"),
        Some(long) if arg.is_require_equals_set() => format!("--{long}[={}]", values.join(" ")),
        Some(long) => format!("--{long} {}", values.join(" ")),
    }
}

fn shown(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    format!("{short}`{}`", spelled(arg))
}

fn means(arg: &Arg) -> String {
    let mut text = arg.get_help().map(|help| help.to_string().replace('|', "\\|")).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), uncapitalised(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    let takes = arg.get_action().takes_values();
    if takes && !values.is_empty() {
        text += &format!(". One of {}", values.join(", "));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes && !defaults.is_empty() {
        text += &format!(". Default: `{}`", defaults.join(","));
    }
    text
}

fn uncapitalised(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// A page with its made parts as they should be now.
pub(crate) fn refreshed(page: &str) -> Result<String, String> {
    let tables = manual::tables();
    let mut pieces = page.split(BEGIN);
    let mut fresh = pieces.next().unwrap_or_default().to_owned();
    let mut used = Vec::new();
    for piece in pieces {
        let (name, rest) = piece.split_once(" -->\n").ok_or("a made part without a name")?;
        let (_, rest) = rest.split_once(END).ok_or_else(|| format!("the made part {name} has no end"))?;
        let (_, table) = tables
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| format!("there is no table {name}"))?;
        used.push(name);
        fresh += &format!("{BEGIN}{name} -->\n\n{table}\n{END}{rest}");
    }
    match tables.iter().find(|(name, _)| !used.contains(name)) {
        Some((name, _)) => Err(format!("the page has no part <!-- made: {name} -->")),
        None => Ok(fresh),
    }
}
