//! Why a command could not do its work, and the exit code that says so.

use std::path::Path;

use counterpoise_core::adjust::AdjustError;
use counterpoise_core::reduce::ReduceError;

use crate::output::Output;
use crate::problem_file::{LoadError, Mistakes};

/// The work is done.
pub(crate) const DONE: u8 = 0;
/// It ran but failed.
pub(crate) const FAILED: u8 = 1;
/// It could not start.
pub(crate) const BAD_INPUT: u8 = 2;
/// It was stopped at a limit or by the user.
pub(crate) const STOPPED: u8 = 3;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A problem file has mistakes.
    Mistakes(Mistakes),
    /// The input is not usable.
    Input { error: anyhow::Error, hint: Option<String> },
    /// The work failed.
    Failed { error: anyhow::Error, hint: Option<String> },
}

impl Trouble {
    /// Input that is not usable.
    pub(crate) fn input(error: impl Into<anyhow::Error>, hint: impl Into<Option<String>>) -> Self {
        Self::Input { error: error.into(), hint: hint.into() }
    }

    /// Work that failed.
    pub(crate) fn failed(error: impl Into<anyhow::Error>, hint: impl Into<Option<String>>) -> Self {
        Self::Failed { error: error.into(), hint: hint.into() }
    }

    /// Trouble with one of many runs. A method that asks for more particles or simulations than it is given is input that is not usable, although that is
    /// seen only when it has chosen its features.
    pub(crate) fn of_run(error: &anyhow::Error, whose: &str) -> Self {
        let too_few = error.chain().any(|cause| {
            matches!(cause.downcast_ref(), Some(AdjustError::TooManyRegressors { .. }))
                || matches!(cause.downcast_ref(), Some(ReduceError::TooFewRows { .. }))
        });
        let told = anyhow::anyhow!("{whose}: {error:#}");
        if too_few { Self::input(told, None) } else { Self::failed(told, None) }
    }

    /// Says what went wrong, and gives the exit code.
    pub(crate) fn report(&self, output: Output) -> u8 {
        let (error, hint, code) = match self {
            Self::Mistakes(mistakes) => {
                output.say(mistakes.render(output.is_coloured()).trim_end());
                return BAD_INPUT;
            }
            Self::Input { error, hint } => (error, hint, BAD_INPUT),
            Self::Failed { error, hint } => (error, hint, FAILED),
        };
        output.say(&format!("error: {error}"));
        for cause in error.chain().skip(1) {
            output.say(&format!("caused by: {cause}"));
        }
        if let Some(hint) = hint {
            output.say(&format!("hint: {hint}"));
        }
        code
    }
}

impl From<LoadError> for Trouble {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Mistakes(mistakes) => Self::Mistakes(mistakes),
            LoadError::Unreadable { path, reason } => {
                let hint = if path.is_dir() {
                    Some(format!("name the problem file in it: {}", path.join("problem.toml").display()))
                } else {
                    let none = !path.exists();
                    none.then(|| {
                        "counterpoise init NAME makes a folder with a problem to begin with".to_owned()
                    })
                };
                Self::input(anyhow::anyhow!("cannot read {}: {reason}", path.display()), hint)
            }
        }
    }
}

/// What to do about a file that cannot be written, where its folder is not there.
pub(crate) fn no_folder(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())?;
    Some(format!("there is no folder {}: make it first", folder.display()))
}

/// Results that cannot be written.
impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::failed(anyhow::Error::from(error).context("cannot write the result"), None)
    }
}

/// Results that cannot be put into JSON.
impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self::failed(anyhow::Error::from(error).context("cannot write the result as JSON"), None)
    }
}
