//! `completions` and `man`: the command line described for shells and for `man`, from the definition that reads it.

use anyhow::anyhow;
use clap::CommandFactory;
use clap_complete::generate;
use clap_mangen::Man;

use crate::args::{Arguments, CompletionsArguments, ManArguments};
use crate::output::Output;
use crate::trouble::{DONE, Trouble};

const PROGRAM: &str = "counterpoise";

/// Prints what a shell needs to complete commands and options.
pub(crate) fn completions(arguments: &CompletionsArguments, output: Output) -> Result<u8, Trouble> {
    let mut text = Vec::new();
    generate(arguments.shell, &mut Arguments::command(), PROGRAM, &mut text);
    output.result(&String::from_utf8_lossy(&text))?;
    Ok(DONE)
}

/// Prints a page of the manual: of the program, or of one of its commands.
pub(crate) fn man(arguments: &ManArguments, output: Output) -> Result<u8, Trouble> {
    let mut root = Arguments::command();
    // Gives every command the options of the program and its full name, without blanks: man counterpoise-run.
    root.build();
    let page = match &arguments.command {
        None => Man::new(root),
        Some(name) => {
            let known: Vec<&str> = root
                .get_subcommands()
                .filter(|one| !one.is_hide_set())
                .map(clap::Command::get_name)
                .collect();
            let found = root.get_subcommands().find(|one| one.get_name() == name).ok_or_else(|| {
                Trouble::input(
                    anyhow!("there is no command `{name}`"),
                    format!("one of {}", known.join(", ")),
                )
            })?;
            Man::new(found.clone())
        }
    };
    let mut text = Vec::new();
    page.render(&mut text)?;
    output.result(&String::from_utf8_lossy(&text))?;
    Ok(DONE)
}
