//! A table of a million simulations, beside R's package abc: processor time, memory, and the same rows accepted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use counterpoise_core::stream::{Seed, Stage, Stream};
use counterpoise_core::table::Table;
use counterpoise_core::variates::StandardNormal;
use counterpoise_core::workers::Serial;
use counterpoise_tables::TableFile;
use counterpoise_tables::write;
use rand::RngExt;
use rand::distr::Distribution;

#[derive(clap::Args)]
pub struct Options {
    /// Rows; an odd number, whose median needs no convention.
    #[arg(long, default_value_t = 1_000_001)]
    rows: usize,
    #[arg(long, default_value_t = 36)]
    statistics: usize,
    #[arg(long, default_value_t = 4)]
    parameters: usize,
    /// Share that is kept.
    #[arg(long, default_value_t = 0.001)]
    keep: f64,
    /// Turns; both take theirs one after another, and the median counts.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Also measure our own reading of these kinds, csv or csv.gz, without a peer.
    #[arg(long, value_delimiter = ',')]
    also: Vec<String>,
}

/// What a process used.
#[derive(Clone, Debug, Default)]
struct Used {
    seconds: f64,
    wall: f64,
    megabytes: f64,
    said: String,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tables");
    make(options, &folder)?;
    let program = std::env::current_exe()?.with_file_name("counterpoise");
    ensure!(program.exists(), "{} is missing: cargo build --release", program.display());
    Command::new(peer("prepare-r")).status().context("running bench/peers/prepare-r")?;
    let with_r = Command::new("Rscript").arg("--version").output().is_ok();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for turn in 0..options.repeats {
        ours.push(ours_once(&program, &folder, "parquet")?);
        println!("turn {turn}, ours: {}", tell(&ours[turn]));
        if with_r {
            theirs.push(theirs_once(options, &folder)?);
            println!("turn {turn}, {}: {}", theirs[turn].said, tell(&theirs[turn]));
            same_rows(&folder)?;
        }
    }
    for kind in &options.also {
        println!("ours, from .{kind}: {}", tell(&ours_once(&program, &folder, kind)?));
    }
    let ours = median(&ours);
    println!("ours, median: {}", tell(&ours));
    if !with_r {
        println!("R is not installed: nothing to compare with");
        return Ok(());
    }
    let theirs = median(&theirs);
    println!("{}, median: {}", theirs.said, tell(&theirs));
    println!(
        "the same {} rows accepted; {:.1} times less processor time, {:.2} of the memory",
        (options.rows as f64 * options.keep).ceil(),
        theirs.seconds / ours.seconds,
        ours.megabytes / theirs.megabytes
    );
    Ok(())
}

fn peer(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

fn tell(used: &Used) -> String {
    format!("{:.2} s of processor time, {:.2} s, {:.0} MB", used.seconds, used.wall, used.megabytes)
}

fn median(turns: &[Used]) -> Used {
    let middle = |value: fn(&Used) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Used {
        seconds: middle(|used| used.seconds),
        wall: middle(|used| used.wall),
        megabytes: middle(|used| used.megabytes),
        said: turns.first().map(|used| used.said.clone()).unwrap_or_default(),
    }
}

fn measured(program: &Path, arguments: &[String]) -> anyhow::Result<Used> {
    let output = Command::new("python3").arg(peer("measure.py")).arg(program).args(arguments).output()?;
    let text = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let mut lines = text.lines();
    let numbers = lines.next().context("no measurement")?.split(' ').map(str::parse::<f64>);
    let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
    let [seconds, wall, megabytes] = numbers[..] else { bail!("{text}") };
    Ok(Used { seconds, wall, megabytes, said: lines.next().unwrap_or_default().trim().to_owned() })
}

fn ours_once(program: &Path, folder: &Path, kind: &str) -> anyhow::Result<Used> {
    let into = folder.join("run");
    fs::remove_dir_all(&into).ok();
    let word = |path: &Path| path.display().to_string();
    let problem = word(&folder.join("problem.toml"));
    let set = format!("model.table.file=\"simulations.{kind}\"");
    let words = ["run", &problem, "--set", &set, "--into", &word(&into), "--quiet"];
    measured(program, &words.map(str::to_owned))
}

fn theirs_once(options: &Options, folder: &Path) -> anyhow::Result<Used> {
    let Options { rows, statistics, parameters, keep, .. } = options;
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join(".r");
    let mut words = vec![peer("abc.R").display().to_string(), folder.display().to_string()];
    words.extend([rows.to_string(), statistics.to_string(), parameters.to_string(), keep.to_string()]);
    words.push(library.display().to_string());
    measured(Path::new("Rscript"), &words)
}

/// Both accepted the same rows.
fn same_rows(folder: &Path) -> anyhow::Result<()> {
    let table = TableFile::open(folder.join("run/posterior.parquet"))?;
    let rows = table.survey(&mut |_| true)?.rows;
    let column = table.names().iter().position(|name| name == "row").context("no column `row`")?;
    let mut ours = BTreeSet::new();
    table.read(&[column], rows, &Serial, &mut |block| {
        ours.extend(block.values.iter().map(|&row| row as u64));
        true
    })?;
    let text = fs::read_to_string(folder.join("accepted.txt"))?;
    let theirs = text.lines().map(str::parse::<u64>).collect::<Result<BTreeSet<_>, _>>()?;
    ensure!(
        ours == theirs,
        "{} of {} rows are accepted by both",
        ours.intersection(&theirs).count(),
        theirs.len()
    );
    Ok(())
}

/// Writes the table in every form, unless it is there: parameters from the prior, statistics that are sums of them with
/// noise.
fn make(options: &Options, folder: &Path) -> anyhow::Result<()> {
    let Options { rows, statistics, parameters, keep, .. } = *options;
    let described = format!("{rows} {statistics} {parameters} {:?}", options.also);
    let stamp = folder.join("made");
    let problem = folder.join("problem.toml");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == described) {
        return Ok(fs::write(problem, problem_text(options))?);
    }
    fs::create_dir_all(folder)?;
    println!("writing {rows} rows to {}", folder.display());
    let mut rng = Seed(1).stream(Stage::Simulate, 0, 0);
    let mixing = normals(statistics, parameters, &mut rng);
    let mut all = Table::filled(rows, parameters + statistics, 0.0);
    for row in 0..rows {
        let (theta, summaries) = all.row_mut(row).split_at_mut(parameters);
        theta.fill_with(|| rng.random_range(-1.0..1.0));
        for (value, factors) in summaries.iter_mut().zip(mixing.iter()) {
            let noise: f64 = StandardNormal.sample(&mut rng);
            *value = theta.iter().zip(factors).map(|(t, f)| t * f).sum::<f64>() + 0.5 * noise;
        }
    }
    let names = |letter: char, count: usize| (0..count).map(move |at| format!("{letter}{at}"));
    let all_names: Vec<String> = names('p', parameters).chain(names('s', statistics)).collect();
    for kind in options.also.iter().map(String::as_str).chain(["parquet"]) {
        let path = folder.join(format!("simulations.{kind}"));
        let mut sink = write::sink(&path, File::create(&path)?, &all_names)?;
        for block in all.values().chunks(65_536 * all.columns()) {
            sink.rows(block)?;
        }
        sink.finish()?;
    }
    for (name, columns) in [("parameters", 0..parameters), ("statistics", parameters..all.columns())] {
        let mut file = BufWriter::new(File::create(folder.join(format!("{name}.bin")))?);
        for column in columns {
            (0..rows).try_for_each(|row| file.write_all(&all.at(row, column).to_le_bytes()))?;
        }
        file.flush()?;
    }
    let observed: Vec<String> =
        mixing.iter().map(|factors| (0.3 * factors.iter().sum::<f64>()).to_string()).collect();
    let header: Vec<String> = names('s', statistics).collect();
    fs::write(folder.join("observed.csv"), format!("{}\n{}\n", header.join(","), observed.join(",")))?;
    ensure!(keep > 0.0 && keep < 1.0, "keep is a share");
    fs::write(problem, problem_text(options))?;
    Ok(fs::write(stamp, described)?)
}

fn normals(rows: usize, columns: usize, rng: &mut Stream) -> Table {
    Table::from_rows(columns, (0..rows * columns).map(|_| StandardNormal.sample(rng)).collect())
}

fn problem_text(options: &Options) -> String {
    let laws: Vec<String> = (0..options.parameters)
        .map(|at| format!("p{at} = {{ law = \"uniform\", low = -1, high = 1 }}\n"))
        .collect();
    let keep = (options.rows as f64 * options.keep).ceil();
    format!(
        "[parameters]\n{}\n[model.table]\nfile = \"simulations.parquet\"\n\n[observed]\nfile = \"observed.csv\"\n\n\
         [method]\nweighting = \"mad\"\nkeep = {keep}\n",
        laws.concat()
    )
}
