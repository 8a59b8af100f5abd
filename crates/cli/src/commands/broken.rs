//! A run that cannot go on, in words.

use counterpoise_core::digest::{DigestError, FailureExample};
use counterpoise_core::problem::Problem;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_run::drive::RunError;
use counterpoise_run::executor::ExecutorError;

use super::{shell_words, stored};
use crate::args::RunArguments;
use crate::summary::Subject;
use crate::trouble::Trouble;

/// A run that cannot go on: what is done is kept, and a failure can be repeated where it was simulated.
pub(super) fn broken(
    error: &RunError,
    arguments: &RunArguments,
    subject: Subject<'_>,
    simulated: bool,
) -> Trouble {
    let mut hints = Vec::new();
    let example = match error {
        RunError::Digest { source: DigestError::TooFewUsable { first, .. }, .. } => first.as_ref(),
        RunError::Execute { source: ExecutorError::TooManyFailures { first, .. }, .. } => Some(&**first),
        _ => None,
    };
    match error {
        RunError::Digest { index, source: DigestError::TooFewUsable { first: Some(example), .. } }
            if simulated =>
        {
            hints.push(format!("this repeats the example: {}", repeat(arguments, subject, *index, example)));
        }
        RunError::Execute { index, source: ExecutorError::TooManyFailures { first, .. } } => {
            hints.push(format!("this repeats the example: {}", repeat(arguments, subject, *index, first)));
        }
        RunError::Digest { source: DigestError::TooFewUsable { .. }, .. } => {
            hints.push(
                "counterpoise check counts the rows that fail: compare the table with [parameters]"
                    .to_owned(),
            );
        }
        RunError::Digest { source: DigestError::Reduce(_) | DigestError::Weigh(_), .. } => {
            hints.push(
                "counterpoise check lists statistics that never vary: look at what the simulator returns"
                    .to_owned(),
            );
        }
        RunError::Store(error) => hints.extend(stored::advice(error, subject.directory)),
        _ => {}
    }
    let hint = (!hints.is_empty()).then(|| hints.join("\nhint: "));
    let named = |text: String| example.map_or(text.clone(), |example| named(&text, example, subject.problem));
    Trouble::failed(chain(error, &named).context("the run cannot go on"), hint)
}

/// An error and its causes, as messages.
fn chain(error: &(dyn std::error::Error + 'static), named: &dyn Fn(String) -> String) -> anyhow::Error {
    let message = named(error.to_string());
    match error.source() {
        Some(source) => chain(source, named).context(message),
        None => anyhow::Error::msg(message),
    }
}

/// A message with the names of the parameters and of the statistic where it shows those of an example: whoever made it does not know
/// them.
pub(super) fn named(message: &str, example: &FailureExample, problem: &Problem) -> String {
    let values = problem.prior.marginals().iter().zip(&example.theta);
    let names: Vec<String> =
        values.map(|(marginal, value)| format!("{} = {value}", marginal.name())).collect();
    let message = message.replacen(&format!("theta = {:?}", example.theta), &names.join(", "), 1);
    message.replacen(&example.failure.to_string(), &example.failure.named(&problem.statistics), 1)
}

/// What repeats one simulation: a command, or what the simulator of a program was given.
fn repeat(arguments: &RunArguments, subject: Subject<'_>, index: u32, example: &FailureExample) -> String {
    let marginals = subject.problem.prior.marginals();
    if arguments.problem.stated.is_some() {
        let mut stream = Seed(subject.method.seed).stream(Stage::Simulate, index, example.row as u64);
        return format!("a call with these parameters and the seed {}", stream.external_seed());
    }
    let at: Vec<String> = marginals
        .iter()
        .zip(&example.theta)
        .map(|(marginal, value)| format!("{}={value}", marginal.name()))
        .collect();
    let mut words = vec!["counterpoise".into(), "simulate".into()];
    words.push(arguments.problem.problem.display().to_string());
    words.extend(arguments.problem.set.iter().flat_map(|set| ["--set".into(), set.clone()]));
    words.extend(["--at".into(), at.join(","), "--seed".into(), subject.method.seed.to_string()]);
    words.extend(["--generation".into(), index.to_string(), "--row".into(), example.row.to_string()]);
    shell_words(&words)
}
