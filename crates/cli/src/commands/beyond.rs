//! What `check` sees beyond time: observations that no simulation comes near, and the room that a run takes.

use counterpoise_core::problem::Problem;
use counterpoise_core::simulate::Simulated;

use crate::print::number::significant;
use crate::problem_file::Method;

/// Fewer usable rows have a range that says too little.
const ENOUGH: usize = 200;
/// Further from the range of the simulations than this share of its width is not by chance.
const FAR: f64 = 0.5;
/// Statistics that are named.
const NAMED: usize = 3;

/// A statistic whose observed value lies far beyond all simulations.
#[derive(Debug)]
pub(super) struct Beyond {
    name: String,
    observed: f64,
    range: (f64, f64),
}

/// The statistics whose observed values lie far beyond what simulations from the prior give.
pub(super) fn observed_beyond(problem: &Problem, simulated: &Simulated) -> Vec<Beyond> {
    let usable = simulated.usable();
    if usable.len() < ENOUGH {
        return Vec::new();
    }
    let statistics = problem.statistics.iter().zip(&problem.observed).enumerate();
    let far = statistics.filter_map(|(column, (name, &observed))| {
        let values = usable.iter().map(|&row| simulated.summaries().at(row as usize, column));
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let margin = FAR * (high - low);
        (observed < low - margin || observed > high + margin).then(|| Beyond {
            name: name.clone(),
            observed,
            range: (low, high),
        })
    });
    far.collect()
}

/// What to do about them.
pub(super) fn beyond(list: &[Beyond]) -> Option<String> {
    let (first, count) = (list.first()?, list.len());
    let others = match count {
        1 => String::new(),
        _ => {
            let names: Vec<&str> = list[1..].iter().take(NAMED).map(|one| &*one.name).collect();
            let more = if count - 1 > NAMED { " and others" } else { "" };
            format!(" (and so {}{more})", names.join(", "))
        }
    };
    Some(format!(
        "the observed {} = {} is far beyond all simulations from the prior, which reach from {} to {}{others}: compare \
         the units of data and simulator, or widen the prior",
        first.name,
        significant(first.observed, 4),
        significant(first.range.0, 4),
        significant(first.range.1, 4),
    ))
}

/// Bytes on the disk at most: every number of every simulation, and as many again for the journal of a generation.
pub(super) fn bytes(method: &Method, columns: usize) -> usize {
    let row = 8 * (columns + 2);
    row * method.simulations * (method.generations + 1)
}

/// Bytes in the units a person would use.
pub(super) fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e6 => format!("{} kB", significant((b / 1e3).max(1.0), 2)),
        b if b < 1e9 => format!("{} MB", significant(b / 1e6, 2)),
        b => format!("{} GB", significant(b / 1e9, 2)),
    }
}
