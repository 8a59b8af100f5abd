//! A peer that a Python process drives: `bench/peers/peer.py` has the protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use super::model::Model;
use super::{Contender, Turn};

/// Names as `--without` takes them, and their scripts.
pub const PEERS: [(&str, &str); 3] =
    [("copasi", "copasi.py"), ("libroadrunner", "libroadrunner.py"), ("gillespy2", "gillespy.py")];

pub struct Python {
    name: &'static str,
    /// What the script says it is.
    pub version: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Installs what is missing; a peer that cannot be installed is found absent when it starts.
pub fn prepare() -> anyhow::Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/prepare");
    Command::new(script).arg("simulators").status().context("running bench/peers/prepare")?;
    Ok(())
}

impl Python {
    /// Starts a peer and has it set up `model`.
    pub fn start((name, script): (&'static str, &str), model: &Model) -> anyhow::Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new(folder.join(".venv/bin/python"))
            .arg(folder.join("peers").join(script))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting bench/peers/{script}"))?;
        let input = child.stdin.take().context("no stdin")?;
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut peer = Self { name, version: String::new(), child, input, output };
        let greeting = peer.ask(&model.json().to_string())?;
        match greeting.strip_prefix("ready ") {
            Some(version) => peer.version = version.to_owned(),
            None => bail!("{}", greeting.trim_start_matches("absent ")),
        }
        Ok(peer)
    }

    fn ask(&mut self, line: &str) -> anyhow::Result<String> {
        writeln!(self.input, "{line}")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        if answer.is_empty() {
            bail!("it ended without an answer");
        }
        Ok(answer.trim().to_owned())
    }
}

impl Contender for Python {
    fn name(&self) -> &'static str {
        self.name
    }

    fn turn(&mut self, count: usize) -> anyhow::Result<Turn> {
        let answer: Value = serde_json::from_str(&self.ask(&count.to_string())?)?;
        let number = |value: &Value| value.as_f64().context("expected a number");
        let numbers = |name: &str| -> anyhow::Result<Vec<f64>> {
            answer[name].as_array().context("expected numbers")?.iter().map(number).collect()
        };
        Ok(Turn {
            seconds: number(&answer["seconds"])?,
            count: number(&answer["count"])?,
            sums: numbers("sums")?,
            squares: numbers("squares")?,
        })
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
