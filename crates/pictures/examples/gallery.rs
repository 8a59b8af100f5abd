//! Every mark in one figure: `cargo run -p counterpoise-pictures --example gallery -- gallery.svg` (or `.png`).

use counterpoise_pictures::{Axis, Colour, Figure, Mark, Panel, Style, density, histogram};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give the name of a file that ends in .svg or .png")?;
    // Numbers that look like a sample: quantiles of a logistic law, and a wave.
    let draws: Vec<f64> = (1..400)
        .map(|i| f64::from(i) / 400.0)
        .map(|u| 10f64.powf((u / (1.0 - u)).ln() * 0.2 - 1.0))
        .collect();
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let wave: Vec<f64> = x.iter().map(|x| 40.0 * (x / 6.0).sin() + 60.0).collect();
    let (low, high): (Vec<f64>, Vec<f64>) = wave.iter().map(|y| (y - 15.0, y + 20.0)).unzip();
    let curve = density(&draws, None, true, None).ok_or("no density")?;
    let bars = histogram(&draws, None, true, (1e-3, 10.0), 30).ok_or("no histogram")?;
    let rules = ["uniform", "sd", "mad", "informed", "hellinger"];
    let figures = Figure::new(Style::print())
        .title("All marks")
        .columns(3)
        .panel(
            Panel::new()
                .title("posterior of k")
                .x(Axis::log("k"))
                .y(Axis::linear("density"))
                .mark(
                    Mark::bars(&bars.edges, &bars.heights).colour(Colour::Muted).opacity(0.4).named("sample"),
                )
                .mark(Mark::area(&curve.x, &curve.y).named("density"))
                .mark(Mark::vertical(0.1).dashed().named("truth")),
        )
        .panel(
            Panel::new()
                .title("a band")
                .x(Axis::linear("time (days)"))
                .y(Axis::linear("infected"))
                .mark(Mark::band(&x, &low, &high).named("90 %"))
                .mark(Mark::line(&x, &wave).named("mean"))
                .mark(Mark::points(&x, &low).colour(Colour::Series(1)).named("observed")),
        )
        .panel(
            Panel::new()
                .title("rules")
                .x(Axis::names(rules))
                .y(Axis::linear("W1 to the exact posterior").from(0.0))
                .mark(Mark::errors_y(
                    &[0.0, 1.0, 2.0, 3.0, 4.0],
                    &[3.0, 2.8, 2.4, 2.0, 1.8],
                    &[2.7, 2.5, 2.2, 1.8, 1.7],
                    &[3.3, 3.1, 2.6, 2.2, 1.9],
                )),
        )
        .panel(
            Panel::new()
                .title("bars with names")
                .x(Axis::linear("weight"))
                .y(Axis::names(rules))
                .mark(Mark::rows(&[0.4, 0.3, 0.2, 0.1, 0.05])),
        )
        .panel(
            Panel::new()
                .title("a histogram's outline")
                .x(Axis::linear("rank"))
                .y(Axis::linear("count"))
                .mark(Mark::steps(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[10.0, 12.0, 9.0, 11.0, 10.0]))
                .mark(Mark::horizontal(10.4).dashed()),
        )
        .panel(
            Panel::new()
                .title("cells")
                .x(Axis::names(["a", "b", "c"]))
                .y(Axis::names(["a", "b", "c"]))
                .mark(Mark::cells(3, &[1.0, 0.4, -0.2, 0.4, 1.0, -0.8, -0.2, -0.8, 1.0])),
        )
        .panel(
            Panel::new()
                .title("a large range")
                .x(Axis::linear("x"))
                .y(Axis::log("y"))
                .mark(Mark::line(&[1e6, 3.5e6], &[1e-9, 1e6])),
        )
        .panel(
            Panel::new()
                .title("a small range")
                .x(Axis::log("x"))
                .y(Axis::log("y"))
                .mark(Mark::line(&[0.101, 0.109], &[2.0, 30.0])),
        );
    if path.ends_with(".png") {
        std::fs::write(&path, figures.png(200.0)?)?;
    } else {
        std::fs::write(&path, figures.svg())?;
    }
    Ok(())
}
