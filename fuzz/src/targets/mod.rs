//! What is fuzzed: one file a target, and one line here.

mod chunks;
mod csv;
mod lines;
mod network;
mod parquet;
mod problem;
mod sbml;
mod table;

use anyhow::anyhow;

/// Something that reads what others wrote.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it reads.
    pub about: &'static str,
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of its language.
    pub words: &'static [&'static str],
    /// Reads an input, and says what it saw: equal texts for inputs that are alike.
    pub run: fn(&[u8]) -> String,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    problem::TARGET,
    network::TARGET,
    sbml::TARGET,
    csv::TARGET,
    parquet::TARGET,
    lines::TARGET,
    chunks::TARGET,
];

/// The target of a name, or all.
pub fn chosen(name: Option<&str>) -> anyhow::Result<Vec<&'static Target>> {
    let Some(name) = name else { return Ok(TARGETS.iter().collect()) };
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let found = TARGETS.iter().find(|target| target.name == name);
    let found = found.ok_or_else(|| anyhow!("there is no target `{name}`: {}", names.join(", ")))?;
    Ok(vec![found])
}

/// A message without its numbers and quoted words: alike for mistakes of one kind.
fn shape(message: &str) -> String {
    let mut quoted = false;
    let mut plain = String::new();
    for letter in message.chars() {
        quoted ^= letter == '`' || letter == '"';
        if !quoted && !letter.is_ascii_digit() {
            plain.push(letter);
        }
    }
    plain.chars().take(400).collect()
}

/// The messages of a text of mistakes, each in its shape.
fn shapes(text: &str) -> String {
    let lines = text.lines().filter(|line| line.starts_with("error") || line.contains("hint:"));
    lines.take(4).map(shape).collect::<Vec<_>>().join("\n")
}
