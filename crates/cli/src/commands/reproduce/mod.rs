//! `reproduce`: the figures and tables of Harrison & Baker, made again.

mod equal_time;
mod experiment;
mod figure_1;
mod figure_6;
mod metropolis;
mod output_of_models;
mod posteriors;
mod sheet;
mod tables;

use std::path::PathBuf;

use anyhow::anyhow;
use counterpoise_core::stream::Seed;
use counterpoise_models::Preset;
use counterpoise_pictures::Figure;
use counterpoise_run::pool::Pool;

use self::sheet::Sheet;
use crate::args::{Item, PresetName, ReproduceArguments};
use crate::output::Output;
use crate::picture_file::write_whole;
use crate::trouble::{DONE, Trouble};

/// How everything is made.
struct Context<'a> {
    arguments: &'a ReproduceArguments,
    output: Output,
    pool: Pool,
    seed: Seed,
}

/// What an item leaves: files, and a text to print.
struct Made {
    figure: Option<Figure>,
    sheets: Vec<(&'static str, Sheet)>,
    text: String,
}

const ALL: [(Item, &str); 8] = [
    (Item::Figure1, "figure-1"),
    (Item::Figure2, "figure-2"),
    (Item::Figure3, "figure-3"),
    (Item::Figure4, "figure-4"),
    (Item::Figure5, "figure-5"),
    (Item::Figure6, "figure-6"),
    (Item::Table1, "table-1"),
    (Item::Table2, "table-2"),
];

/// Makes a figure or a table, or all of them.
pub(crate) fn reproduce(arguments: &ReproduceArguments, output: Output) -> Result<u8, Trouble> {
    fitting(arguments)?;
    let wanted: Vec<(Item, &str)> =
        ALL.into_iter().filter(|(item, _)| arguments.item == Item::All || arguments.item == *item).collect();
    let context = Context { arguments, output, pool: arguments.schedule.pool(), seed: Seed(arguments.seed) };
    for (item, name) in &wanted {
        for path in context.files(*item, name) {
            if path.exists() && !arguments.force {
                let message = anyhow!("{} exists already", path.display());
                let hint = "--force overwrites it; --into DIR writes elsewhere".to_owned();
                return Err(Trouble::input(message, hint));
            }
        }
    }
    for (item, name) in wanted {
        output.note(&format!("{name}, {}", context.preset_line()));
        let made = context.make(item)?;
        let mut files = Vec::new();
        if let Some(figure) = &made.figure {
            files.push((format!("{name}.svg"), figure.svg().into_bytes()));
        }
        for (suffix, sheet) in &made.sheets {
            files.push((format!("{name}{suffix}.csv"), sheet.csv().into_bytes()));
        }
        for (file, bytes) in &files {
            write_whole(&arguments.into.join(file), bytes)?;
        }
        let written: Vec<&str> = files.iter().map(|(file, _)| &**file).collect();
        output.note(&format!("{} in {}", written.join(", "), arguments.into.display()));
        output.result(&format!("## {name} ({})\n\n{}\n", context.preset_line(), made.text))?;
    }
    Ok(DONE)
}

/// Refuses arguments that the item would not heed.
fn fitting(arguments: &ReproduceArguments) -> Result<(), Trouble> {
    let item = arguments.item;
    let refused = |message: &str, hint: &str| Err(Trouble::input(anyhow!("{message}"), hint.to_owned()));
    if arguments.measure && item != Item::Table1 {
        return refused("--measure belongs to table-1", "counterpoise reproduce table-1 --measure");
    }
    if arguments.datasets.is_some() && item == Item::Figure1 {
        return refused("figure-1 is made of one dataset", "leave out --datasets");
    }
    if !arguments.problems.is_empty() && !matches!(item, Item::Table1 | Item::Table2 | Item::All) {
        return refused(
            "--problems belongs to the tables",
            "leave it out: a figure has the problems of the paper's",
        );
    }
    Ok(())
}

impl Context<'_> {
    fn make(&self, item: Item) -> Result<Made, Trouble> {
        match item {
            Item::Figure1 => figure_1::make(self),
            Item::Figure2 => posteriors::make(self, &["toy-sorted", "toy"]),
            Item::Figure3 => posteriors::make(self, &["death"]),
            Item::Figure4 => posteriors::make(self, &["dimerization"]),
            Item::Figure5 => posteriors::make(self, &["diffusion"]),
            Item::Figure6 => figure_6::make(self),
            Item::Table1 if self.arguments.measure => tables::equal_times(self),
            Item::Table1 => tables::table_1(self),
            Item::Table2 | Item::All => tables::table_2(self),
        }
    }

    /// The files of an item.
    fn files(&self, item: Item, name: &str) -> Vec<PathBuf> {
        let ends: &[&str] = match item {
            Item::Table1 if self.arguments.measure => &["-times.csv"],
            Item::Table1 | Item::Table2 | Item::All | Item::Figure1 | Item::Figure6 => &[".svg", ".csv"],
            _ => &[".svg", ".csv", "-summary.csv"],
        };
        ends.iter().map(|end| self.arguments.into.join(format!("{name}{end}"))).collect()
    }

    fn preset(&self) -> Preset {
        match self.arguments.preset {
            PresetName::Text => Preset::Text,
            PresetName::Appendix => Preset::Appendix,
        }
    }

    fn preset_line(&self) -> String {
        let preset = if self.preset() == Preset::Text { "text" } else { "appendix" };
        let quick = if self.arguments.quick { ", quick" } else { "" };
        format!("preset {preset}{quick}, seed {}", self.arguments.seed)
    }

    /// How many datasets are made.
    fn datasets(&self) -> usize {
        self.arguments.datasets.map_or(if self.arguments.quick { 2 } else { 10 }, |count| count as usize)
    }

    /// How many simulations a generation has where the paper has `paper`.
    fn simulations(&self, paper: usize) -> usize {
        let quick = if self.arguments.quick { (paper / 10).max(1_000) } else { paper };
        self.arguments.simulations.map_or(quick, |count| count as usize)
    }
}
