//! A picture of a finished run of the death example beside the exact posterior, as SVG.

use std::fmt::Write;
use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use crate::reference::load;

#[derive(clap::Args)]
pub struct Options {
    /// The run's directory.
    #[arg(default_value = "runs/death-process")]
    run: PathBuf,
    /// Where to write.
    #[arg(long, default_value = "docs/death.svg")]
    out: PathBuf,
}

const BARS: usize = 48;
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 180.0;

pub fn run(options: &Options) -> anyhow::Result<()> {
    let file = File::open(options.run.join("posterior.parquet"))
        .with_context(|| format!("opening {}; run the example first", options.run.display()))?;
    let mut draws: Vec<[f64; 3]> = Vec::new();
    for row in SerializedFileReader::new(file)?.get_row_iter(None)? {
        let row = row?;
        draws.push([row.get_double(0)?.log10(), row.get_double(1)?.log10(), row.get_double(2)?]);
    }
    ensure!(!draws.is_empty(), "the run has no particle");
    let exact = load("death")?.swap_remove(1).exact;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        2.0 * WIDTH + 60.0,
        HEIGHT + 70.0
    );
    for (j, (name, low, high, truth)) in
        [("k", -2.2, 0.2, -1.0), ("sigma", -3.0, 1.0, -2.0)].into_iter().enumerate()
    {
        let ours = bars(draws.iter().map(|draw| (draw[j], draw[2])), low, high);
        let weight = 1.0 / exact[j].len() as f64;
        let theirs = bars(exact[j].iter().map(|&value| (value, weight)), low, high);
        panel(&mut svg, 20.0 + j as f64 * (WIDTH + 20.0), (name, low, high, truth), &ours, &theirs)?;
    }
    svg.push_str("</svg>\n");
    if let Some(folder) = options.out.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&options.out, svg).with_context(|| format!("writing {}", options.out.display()))?;
    println!("wrote {}", options.out.display());
    Ok(())
}

fn bars(values: impl Iterator<Item = (f64, f64)>, low: f64, high: f64) -> Vec<f64> {
    let mut bars = vec![0.0; BARS];
    for (value, weight) in values {
        let at = (value - low) / (high - low) * BARS as f64;
        if (0.0..BARS as f64).contains(&at) {
            bars[at as usize] += weight;
        }
    }
    bars
}

fn panel(
    svg: &mut String,
    left: f64,
    (name, low, high, truth): (&str, f64, f64, f64),
    ours: &[f64],
    theirs: &[f64],
) -> anyhow::Result<()> {
    let top = ours.iter().chain(theirs).copied().fold(0.0, f64::max);
    let (base, step) = (HEIGHT + 20.0, WIDTH / BARS as f64);
    let y = |value: f64| base - value / top * HEIGHT;
    for (i, &value) in ours.iter().enumerate() {
        let (x, height) = (left + i as f64 * step, base - y(value));
        writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{step:.1}\" height=\"{height:.1}\" fill=\"#8fb8de\"/>",
            y(value)
        )?;
    }
    let points: Vec<String> = theirs
        .iter()
        .enumerate()
        .flat_map(|(i, &value)| [(i, value), (i + 1, value)])
        .map(|(i, value)| format!("{:.1},{:.1}", left + i as f64 * step, y(value)))
        .collect();
    writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\"/>",
        points.join(" ")
    )?;
    let at = |value: f64| left + (value - low) / (high - low) * WIDTH;
    writeln!(
        svg,
        "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"20\" y2=\"{base}\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/>",
        at(truth)
    )?;
    writeln!(
        svg,
        "<line x1=\"{left}\" x2=\"{:.1}\" y1=\"{base}\" y2=\"{base}\" stroke=\"#222\"/>",
        left + WIDTH
    )?;
    for tick in (low.ceil() as i32)..=(high.floor() as i32) {
        let x = at(f64::from(tick));
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>", base + 16.0)?;
    }
    let middle = left + WIDTH / 2.0;
    writeln!(
        svg,
        "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">log10 {name}</text>",
        base + 36.0
    )?;
    Ok(())
}
