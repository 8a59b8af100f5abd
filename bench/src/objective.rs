//! One evaluation of the search objective, beside numpy and scipy in the same run, interleaved.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, ensure};
use counterpoise_core::divergence::{Divergence, Entropy, Space};
use counterpoise_core::problem::Simulator;
use counterpoise_core::propose::{Importance, propose};
use counterpoise_core::reduce::Estimates;
use counterpoise_core::simulate::{Jobs, simulate_rows};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::table::Table;
use counterpoise_core::variates::StandardNormal;
use counterpoise_core::view::View;
use counterpoise_core::weigh::Objective;
use counterpoise_core::workers::Serial;
use counterpoise_models::{Preset, builtin, setting};
use cpu_time::ThreadTime;
use rand::RngExt;
use rand::distr::Distribution;

#[derive(clap::Args)]
pub struct Options {
    /// Simulations.
    #[arg(long, default_value_t = 50_000)]
    rows: usize,
    /// Rows kept.
    #[arg(long, default_value_t = 2_500)]
    keep: usize,
    /// Neighbours.
    #[arg(long, default_value_t = 5)]
    neighbours: usize,
    /// Moves of one weight.
    #[arg(long, default_value_t = 400)]
    moves: usize,
    /// Full evaluations.
    #[arg(long, default_value_t = 40)]
    repeats: usize,
}

/// Simulations of the death process with 34 statistics that vary, at two parameters.
struct Material {
    units: Table,
    features: Table,
    observed: Vec<f64>,
    prior: Vec<f64>,
}

fn material(rows: usize) -> anyhow::Result<Material> {
    let model = builtin("death", Preset::Text, &[("count".into(), 33.0)])?;
    let prior = setting("death", Preset::Text)?.prior()?;
    let proposed = propose(&prior, None, rows, (Seed(1), 0), &Serial)?;
    let jobs = Jobs { thetas: &proposed.thetas, seed: Seed(1), generation: 0, first: 0 };
    let chunk = simulate_rows(&*model.simulator, &jobs, &(0..rows).collect::<Vec<_>>());
    let mut observed = vec![0.0; model.statistics.len()];
    model.simulator.simulate(&[0.1, 0.01], &mut Seed(1).stream(Stage::Observe, 0, 0), &mut observed)?;
    // The count at time zero is constant: leaves 34.
    let without_first = |row: &[f64]| row[1..].to_vec();
    let features =
        Table::from_rows(observed.len() - 1, chunk.summaries.iter().flat_map(without_first).collect());
    let density = proposed.units.iter().map(|unit| prior.ln_density(unit).exp()).collect();
    Ok(Material { units: proposed.units, features, observed: without_first(&observed), prior: density })
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let material = material(options.rows)?;
    let rows: Vec<u32> = (0..options.rows as u32).collect();
    let spread: Vec<f64> = (0..material.features.columns())
        .map(|j| crate::reference::moments(&material.features.column(j)).1)
        .collect();
    let prior = setting("death", Preset::Text)?.prior()?;
    let (space, importance) = (Space::new(&prior, &material.units, Seed(1), 1), Importance::equal());
    let view = View {
        units: &material.units,
        features: (&material.features).into(),
        observed: &material.observed,
        rows: &rows,
        spread: &spread,
        importance: &importance,
        space: &space,
        learned: Estimates::default(),
        adjusts: false,
        keep: options.keep,
        previous: None,
        tried: &[],
        workers: &Serial,
    };
    let varying = view.varying();
    let plan = Entropy { neighbours: options.neighbours, ..Entropy::default() };
    let gauge = plan.gauge(&space, &importance);
    let mut objective = Objective::new(&view, &rows, &varying, options.keep, gauge);
    let mut peer = Peer::start(options, &material, &spread)?;
    let mut rng = Seed(2).stream(Stage::Weigh, 0, 0);
    let kappa = varying.len();
    println!(
        "{} rows, {kappa} statistics, keep {}, d = 2, k = {}",
        options.rows, options.keep, options.neighbours
    );

    // In turns of five, so that neither finds its data driven out of the caches by the other each time.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..options.repeats.div_ceil(5) {
        let points: Vec<Vec<f64>> =
            (0..5).map(|_| (0..kappa).map(|_| StandardNormal.sample(&mut rng)).collect()).collect();
        let mut values = Vec::new();
        for point in &points {
            let clock = ThreadTime::now();
            values.push(objective.evaluate(point));
            ours.push(clock.elapsed().as_secs_f64());
        }
        for (point, value) in points.iter().zip(values) {
            let (seconds, expected) = peer.evaluate(point)?;
            theirs.push(seconds);
            ensure!((value - expected).abs() < 2e-3, "we say {value}, the peer says {expected}");
        }
    }
    show("full evaluation, ours", &ours);
    show("full evaluation, numpy + scipy", &theirs);
    println!(
        "ratio of the best: {:.3}; of the medians: {:.3}",
        best(&ours) / best(&theirs),
        median(&ours) / median(&theirs)
    );

    let base: Vec<f64> = (0..kappa).map(|_| 0.5 * rng.random_range(-1.0..1.0)).collect();
    objective.evaluate(&base);
    objective.anchor();
    let mut moves = Vec::new();
    for i in 0..options.moves {
        let mut point = base.clone();
        point[i % kappa] += if i % 2 == 0 { 1.1f64.ln() } else { 0.9f64.ln() };
        let clock = ThreadTime::now();
        objective.evaluate(&point);
        moves.push(clock.elapsed().as_secs_f64());
    }
    show("one weight moved by 10 %", &moves);
    Ok(())
}

fn best(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn show(what: &str, seconds: &[f64]) {
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    println!(
        "{what:<32} best {:.1}, median {:.1}, mean {:.1} microseconds",
        best(seconds) * 1e6,
        median(seconds) * 1e6,
        mean * 1e6
    );
}

/// A Python process that evaluates the same objective.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    data: PathBuf,
}

impl Peer {
    fn start(options: &Options, material: &Material, spread: &[f64]) -> anyhow::Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let prepared =
            Command::new(folder.join("peers/prepare")).status().context("running bench/peers/prepare")?;
        ensure!(prepared.success(), "bench/peers/prepare failed");
        let data = std::env::temp_dir().join(format!("counterpoise-objective-{}.bin", std::process::id()));
        let squares = material.features.iter().flat_map(|row| {
            let scaled = row.iter().zip(&material.observed).zip(spread);
            scaled.map(|((s, y), sd)| ((s - y) / sd).powi(2)).collect::<Vec<f64>>()
        });
        let values =
            material.units.values().iter().copied().chain(material.prior.iter().copied()).chain(squares);
        std::fs::write(&data, values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())?;
        let mut child = Command::new(folder.join(".venv/bin/python"))
            .arg(folder.join("peers/objective.py"))
            .args(
                [options.rows, material.features.columns(), 2, options.keep, options.neighbours]
                    .map(|n| n.to_string()),
            )
            .arg(&data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting bench/peers/objective.py")?;
        let input = child.stdin.take().context("no stdin")?;
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, input, output, data })
    }

    fn evaluate(&mut self, point: &[f64]) -> anyhow::Result<(f64, f64)> {
        let words: Vec<String> = point.iter().map(|x| x.exp().to_string()).collect();
        writeln!(self.input, "{}", words.join(" "))?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let (seconds, value) = line.trim().split_once(' ').context("the peer answered nothing")?;
        Ok((seconds.parse()?, value.parse()?))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        std::fs::remove_file(&self.data).ok();
    }
}
