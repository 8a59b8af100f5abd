//! Calibration on simulations that are there already.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::anyhow;
use counterpoise_core::problem::Problem;
use counterpoise_core::stream::Seed;
use counterpoise_run::executor::Threads;
use counterpoise_run::given::Source;
use counterpoise_run::pool::Pool;
use counterpoise_run::store::{SIMULATIONS_FILE, check_simulations, differences};
use counterpoise_run::study::Reused;
use counterpoise_tables::TableFile;

use super::super::{show, stored};
use super::{From, each, ranks as ranks_of};
use crate::args::CalibrateArguments;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::print::progress::Progress;
use crate::problem_file::{Loaded, Material, Method};
use crate::trouble::Trouble;

/// Ranks of the truths of simulations, each put aside when it is the data.
pub(super) fn ranks(
    arguments: &CalibrateArguments,
    directory: Option<&Path>,
    loaded: Loaded,
    pool: &Pool,
    (interrupt, output): (&Interrupt, Output),
) -> Result<(From, Method, Vec<Vec<f64>>), Trouble> {
    let count = arguments.datasets as usize;
    if loaded.method.generations > 1 {
        let generations = loaded.method.generations;
        let message = anyhow!(
            "--reuse is for methods of one generation, and this one has {generations}: later generations draw parameters from \
             proposals, and not from the prior"
        );
        let hint =
            "--set method.generations=1 judges one generation; without --reuse the whole method is judged";
        return Err(Trouble::input(message, hint.to_owned()));
    }
    let (reused, problem, method) = simulations(directory, loaded, pool, output)?;
    let seed = Seed(method.seed);
    let among = if arguments.around {
        let first = reused.infer(problem.clone(), method.build(), seed, None);
        first.map_err(|error| Trouble::failed(error, None))?.population.rows
    } else {
        reused.usable()
    };
    if among.len() < count {
        let what = if arguments.around { "were accepted for the observation" } else { "are usable" };
        let message = anyhow!("{} simulations {what}: they cannot be {count} datasets", among.len());
        return Err(Trouble::input(message, format!("--datasets {} takes all of them", among.len())));
    }
    let rows = Reused::some(among, count, seed);
    let ranks = each(count, pool, (interrupt, output), |index| {
        let seed = Seed(method.seed.wrapping_add(1 + index as u64));
        let generation = reused.infer(problem.clone(), method.build(), seed, Some(rows[index]))?;
        Ok(ranks_of(&generation, &reused.dataset(rows[index]), seed))
    })?;
    Ok((if arguments.around { From::Accepted } else { From::Reused }, method, ranks))
}

/// The simulations at draws from the prior: a table's, those of a run, or new ones.
fn simulations(
    directory: Option<&Path>,
    loaded: Loaded,
    pool: &Pool,
    output: Output,
) -> Result<(Reused, Problem, Method), Trouble> {
    if let Some(directory) = directory {
        return stored_ones(directory, loaded, pool);
    }
    let Loaded { problem, material, method, .. } = loaded;
    let reused = match material {
        Material::Table(table) => read(&table.source(method.simulations), &problem, pool)?,
        Material::Simulator(simulator) => {
            let mut executor = Threads::new(&*simulator, pool.threads(), None);
            let mut progress = Progress::new(output, 1, method.simulations);
            let (prior, count) = (&problem.prior, method.simulations);
            let made = Reused::simulate(prior, count, Seed(method.seed), &mut executor, pool, &mut |done| {
                progress.simulated(0, done, 0);
            });
            progress.finish();
            made.map_err(|error| Trouble::failed(error, None))?
        }
    };
    Ok((reused, problem, method))
}

fn read(source: &Source, problem: &Problem, pool: &Pool) -> Result<Reused, Trouble> {
    let given = source.read(&problem.prior, pool, &mut |_| ControlFlow::Continue(()));
    let given = given.map_err(|error| Trouble::failed(error, None))?;
    given.continue_value().map(Reused::from).ok_or_else(|| Trouble::failed(anyhow!("nothing was read"), None))
}

/// The first generation of a run of the same model and prior.
fn stored_ones(directory: &Path, loaded: Loaded, pool: &Pool) -> Result<(Reused, Problem, Method), Trouble> {
    let Some(run) = stored::read(directory)? else { return Err(show::no_run(directory)) };
    let part = |description: &serde_json::Value| serde_json::json!({ "parameters": description["parameters"], "model": description["model"] });
    let other = differences(&part(&run.description), &part(&loaded.description));
    if let Some(line) = other.refused.first() {
        let message = anyhow!("the run in {} is of another problem: {line}", directory.display());
        return Err(Trouble::input(message, "give the problem file of that run".to_owned()));
    }
    if !check_simulations(directory, 0).map_err(|error| stored::trouble(error, directory))? {
        let message = anyhow!("{} has no first generation with simulations", directory.display());
        let hint = "a run on a table keeps none: --reuse without a directory takes those of the table";
        return Err(Trouble::input(message, hint.to_owned()));
    }
    let Loaded { problem, mut method, .. } = loaded;
    let failed = |error: anyhow::Error| Trouble::failed(error, None);
    let file = TableFile::open(directory.join("generations/000").join(SIMULATIONS_FILE));
    let file = file.map_err(|error| failed(error.into()))?;
    let find = |name: &String| file.names().iter().position(|known| known == name);
    let columns = |names: &[String]| {
        names
            .iter()
            .map(find)
            .collect::<Option<Vec<usize>>>()
            .ok_or_else(|| failed(anyhow!("a column is missing")))
    };
    let (parameters, statistics) = (columns(&problem.prior.names())?, columns(&problem.statistics)?);
    let rows = file.survey(&mut |_| true).map_err(|error| failed(error.into()))?.rows as usize;
    method.simulations = rows;
    if method.keep >= rows {
        let message = anyhow!("the first generation has {rows} simulations: {} cannot be kept", method.keep);
        return Err(Trouble::input(message, "--set method.keep=... keeps fewer".to_owned()));
    }
    let source = Source { file, parameters, statistics, rows };
    let reused = read(&source, &problem, pool)?;
    Ok((reused, problem, method))
}
