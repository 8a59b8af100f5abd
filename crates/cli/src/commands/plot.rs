//! `plot`: a picture of a run for a paper.

use anyhow::anyhow;
use counterpoise_report::{Subject, picture};

use super::report::{may_write, read, write};
use crate::args::{Drawn, PlotArguments};
use crate::output::Output;
use crate::trouble::{DONE, Trouble};

/// Writes the picture.
pub(crate) fn plot(arguments: &PlotArguments, output: Output) -> Result<u8, Trouble> {
    let to = &arguments.out;
    let extension = to.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
    let is_png = match extension.as_deref() {
        Some("svg") => false,
        Some("png") => true,
        _ => {
            let message = anyhow!("{} is neither a .svg nor a .png file", to.display());
            return Err(Trouble::input(message, "--out picture.svg or --out picture.png".to_owned()));
        }
    };
    may_write(to, arguments.force)?;
    let subject = match arguments.what {
        Drawn::Marginals => Subject::Marginals,
        Drawn::Pairs => Subject::Pairs,
        Drawn::Weights => Subject::Weights,
        Drawn::Information => Subject::Information,
        Drawn::Predictive => Subject::Predictive,
    };
    let figure =
        picture(&read(&arguments.directory)?, subject).map_err(|error| Trouble::input(error, None))?;
    if is_png {
        let image = figure.png(f64::from(arguments.dpi)).map_err(|error| {
            Trouble::input(error, "--dpi 150 makes it smaller, and --out picture.svg has no size".to_owned())
        })?;
        write(to, &image)?;
    } else {
        write(to, figure.svg().as_bytes())?;
    }
    output.result(&format!("{}\n", to.display()))?;
    Ok(DONE)
}
