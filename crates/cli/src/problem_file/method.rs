//! `[method]` and `[stop]`: how the question is answered and when it is answered well enough.

use counterpoise_core::digest;
use counterpoise_core::stop::{AfterGenerations, EffectiveSampleSizeFloor, FirstOf, SimulationBudget, Stop};
use counterpoise_models::Setting;
use serde_json::{Value, json};

use super::adjust::{self, Adjust};
use super::keys;
use super::proposal::{self, Proposal};
use super::reading::{Section, Table};
use super::reduction::{self, Reduction};
use super::weighting::{self, Weighting};

/// Fewer particles carry no posterior, and fewer simulations no choice of weights.
const LEAST_KEPT: usize = 20;
pub(super) const LEAST_SIMULATIONS: u64 = 40;
pub(super) const MOST_SIMULATIONS: u64 = 1 << 31;
/// Particles that are kept of a table, unless the file says otherwise.
const MOST_OF_TABLE: usize = 1_000;
const MOST_GENERATIONS: u64 = 10_000;
/// What holds where the file says nothing.
pub(super) const SIMULATIONS: u64 = 5_000;
pub(super) const SHARE: f64 = 0.05;
pub(super) const GENERATIONS: u64 = 5;
pub(super) const SEED: u64 = 1;
/// How `auto` spends a budget: in so many generations, none smaller than this, and what it keeps of each.
const AUTO_GENERATIONS: usize = 5;
const SMALLEST_GENERATION: usize = 500;
const AUTO_SHARE: f64 = 0.1;

/// What holds where `[method]` says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    simulations: u64,
    share: f64,
    generations: u64,
    proposal: Proposal,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            simulations: SIMULATIONS,
            share: SHARE,
            generations: GENERATIONS,
            proposal: Proposal::default(),
        }
    }
}

impl Defaults {
    /// What holds for a table of so many simulations: all of them, in one generation that has to be choosy.
    pub(crate) fn of_table(rows: usize) -> Self {
        let share = (MOST_OF_TABLE as f64 / rows as f64).min(Self::default().share);
        let share = share.max(LEAST_KEPT as f64 / rows as f64);
        Self { simulations: rows as u64, share, generations: 1, ..Self::default() }
    }
}

/// The numbers of a paper's experiment.
impl From<&Setting> for Defaults {
    fn from(setting: &Setting) -> Self {
        Self {
            simulations: setting.simulations as u64,
            share: setting.keep,
            generations: setting.generations as u64,
            proposal: Proposal::gaussian(setting.proposal_sd),
        }
    }
}

/// All choices of method, with defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) simulations: usize,
    pub(crate) keep: usize,
    pub(crate) generations: usize,
    pub(crate) seed: u64,
    pub(crate) seconds: Option<f64>,
    weighting: Weighting,
    /// Where the file leaves these open, the weighting rule says what they are.
    reduction: Option<Reduction>,
    proposal: Option<Proposal>,
    adjust: Option<Adjust>,
    /// What holds for rules other than `auto`.
    usual_proposal: Proposal,
    /// Whether the file leaves the size of the run open.
    is_sized: bool,
    budget: Option<usize>,
    ess: Option<f64>,
}

/// How many a share keeps: never more than it says, nor one fewer because 0.29 times 100 is below 29 in binary.
fn share_of(share: f64, simulations: usize) -> usize {
    (share * simulations as f64 + 1e-9).floor() as usize
}

/// What a file without `[method]` asks for.
impl From<Defaults> for Method {
    fn from(defaults: Defaults) -> Self {
        let simulations = defaults.simulations as usize;
        Self {
            simulations,
            keep: share_of(defaults.share, simulations),
            generations: defaults.generations as usize,
            seed: SEED,
            seconds: None,
            weighting: Weighting::default(),
            reduction: None,
            proposal: None,
            adjust: None,
            usual_proposal: defaults.proposal,
            is_sized: false,
            budget: None,
            ess: None,
        }
    }
}

/// The choices of `[method]`; defaults where it says nothing or a mistake leaves something open.
pub(crate) fn read(mut section: Section<'_>, defaults: Defaults) -> Method {
    section.only(&keys::names(keys::METHOD));
    let mut method = Method::from(defaults);
    method.is_sized = ["simulations", "keep", "generations"].iter().any(|key| section.has(key));
    let simulations = section.whole("simulations", LEAST_SIMULATIONS..=MOST_SIMULATIONS);
    if simulations.is_some() || !section.has("simulations") {
        method.simulations = simulations.unwrap_or(defaults.simulations) as usize;
        method.keep = read_keep(&mut section, method.simulations, defaults.share).unwrap_or(LEAST_KEPT);
    }
    if let Some(generations) = section.whole("generations", 1..=MOST_GENERATIONS) {
        method.generations = generations as usize;
    }
    if let Some(seed) = section.whole("seed", 0..=u64::MAX) {
        method.seed = seed;
    }
    let mut made = Table::default();
    if let Some(rule) = section.rule("weighting", &mut made) {
        method.weighting = weighting::read(rule);
    }
    if let Some(rule) = section.rule("reduction", &mut made) {
        method.reduction = Some(reduction::read(rule));
    }
    if let Some(rule) = section.rule("adjust", &mut made) {
        method.adjust = Some(adjust::read(rule));
    }
    if let Some(rule) = section.rule("proposal", &mut made) {
        method.proposal = Some(proposal::read(rule));
    }
    check_neighbours(&mut section, &method);
    method
}

/// How many are kept: a share below one, or a count.
fn read_keep(section: &mut Section<'_>, simulations: usize, share: f64) -> Option<usize> {
    let given = section.has("keep").then(|| section.number("keep"));
    let number = given.unwrap_or(Some(share))?;
    let blamed = if section.has("keep") { "keep" } else { "simulations" };
    let keep = if number > 0.0 && number < 1.0 {
        share_of(number, simulations) as f64
    } else if number >= 1.0 && number.fract() == 0.0 {
        number
    } else {
        let message = format!("`method.keep` must be a share below 1 or a whole number, found {number}");
        section.mistake(blamed, message, None);
        return None;
    };
    if keep >= simulations as f64 {
        let message = format!(
            "cannot keep {keep} of {simulations} simulations: all would be kept, and nothing selected"
        );
        section.mistake(blamed, message, "keep = 0.05 keeps one in twenty".to_owned());
        return None;
    }
    if keep < LEAST_KEPT as f64 {
        let (message, hint) = too_few(number, keep, simulations, share);
        section.mistake(blamed, message, hint);
        return None;
    }
    Some(keep as usize)
}

/// Why `number` keeps too few particles, and a remedy.
fn too_few(number: f64, keep: f64, simulations: usize, share: f64) -> (String, String) {
    let what = match number < 1.0 {
        true => format!("a share of {number} of {simulations} simulations"),
        false => "`method.keep`".into(),
    };
    let enough = (LEAST_KEPT as f64 / share).ceil() as usize;
    let hint = if number < 1.0 && simulations < enough {
        format!("raise simulations, to {enough} for a share of {share}, or keep a larger share")
    } else {
        "keep more".to_owned()
    };
    (format!("{what} keeps {keep} particles: at least {LEAST_KEPT} are needed"), hint)
}

fn check_neighbours(section: &mut Section<'_>, method: &Method) {
    if let Some((neighbours, among)) = method.weighting.neighbours(method.keep)
        && neighbours >= among
    {
        let message = format!("{neighbours} neighbours are looked for among {among} particles");
        section.mistake("weighting", message, "use fewer neighbours or keep more particles".to_owned());
    }
}

/// Adds the limits of `[stop]`.
pub(crate) fn read_stop(mut section: Section<'_>, method: &mut Method) {
    section.only(&keys::names(keys::STOP));
    method.budget = section.whole("simulations", 1..=u64::MAX / 2).map(|budget| budget as usize);
    method.seconds = section.number_that("seconds", "a number above 0", |seconds| seconds > 0.0);
    method.ess = section.number_that("ess", "a number above 0", |ess| ess > 0.0);
    method.fit_to_budget();
    if let Some(ess) = method.ess
        && ess > method.keep as f64
    {
        let message =
            format!("the effective sample size is at most the {} kept: {ess} cannot be reached", method.keep);
        section.mistake("ess", message, None);
    }
}

impl Method {
    fn reduction(&self) -> Reduction {
        let usual = || if self.weighting.is_auto() { Reduction::learned() } else { Reduction::default() };
        self.reduction.clone().unwrap_or_else(usual)
    }

    fn adjust(&self) -> Adjust {
        let usual = || if self.weighting.is_auto() { Adjust::Judged } else { Adjust::default() };
        self.adjust.clone().unwrap_or_else(usual)
    }

    fn proposal(&self) -> Proposal {
        let usual = if self.weighting.is_auto() { Proposal::adaptive() } else { self.usual_proposal };
        self.proposal.unwrap_or(usual)
    }

    /// Where the file gives a budget of simulations and leaves the size of the run to `auto`: as many generations as
    /// the budget has room for, which together use it up but for a remainder.
    fn fit_to_budget(&mut self) {
        let Some(budget) = self.budget.filter(|_| self.weighting.is_auto() && !self.is_sized) else { return };
        let generations = (budget / SMALLEST_GENERATION).clamp(1, AUTO_GENERATIONS);
        let simulations = budget / generations;
        let keep = (AUTO_SHARE * simulations as f64) as usize;
        if keep >= LEAST_KEPT {
            (self.generations, self.simulations, self.keep) = (generations, simulations, keep);
        }
    }

    /// Why so many statistics of so many parameters are too many for the particles kept, if they are.
    pub(crate) fn too_many(&self, statistics: usize, parameters: usize) -> Option<String> {
        let features = self.reduction().features(statistics, parameters)?;
        let (needed, kept) = (self.adjust().needs(features), self.keep);
        (kept < needed).then(|| {
            format!(
                "regression on {features} features needs at least {needed} particles, and {kept} are kept"
            )
        })
    }

    /// Everything that shows in the result, as a run's description keeps it. The seconds do not: they may cut
    /// a run short but never change what it finishes with. Of the rest, `generations` and `stop` may change while a
    /// run goes on.
    pub(crate) fn describe(&self) -> Value {
        json!({
            "simulations": self.simulations,
            "keep": self.keep,
            "generations": self.generations,
            "weighting": self.weighting.describe(),
            "reduction": self.reduction().describe(),
            "proposal": self.proposal().describe(),
            "adjust": self.adjust().describe(),
            "stop": { "simulations": self.budget, "ess": self.ess },
        })
    }

    /// The method itself.
    pub(crate) fn build(&self) -> digest::Method {
        let mut rules: Vec<Box<dyn Stop>> = vec![Box::new(AfterGenerations(self.generations))];
        rules.extend(self.ess.map(|ess| Box::new(EffectiveSampleSizeFloor(ess)) as Box<dyn Stop>));
        // What has been reached counts before what ran out.
        rules.extend(self.budget.map(|budget| Box::new(SimulationBudget(budget)) as Box<dyn Stop>));
        digest::Method {
            simulations: self.simulations,
            keep: self.keep,
            proposal: self.proposal().build(),
            reduction: self.reduction().build(),
            weighting: self.weighting.build(),
            adjustment: self.adjust().build(),
            stop: Box::new(FirstOf(rules)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_keeps_no_more_than_it_says() {
        assert_eq!(share_of(0.05, 5_000), 250);
        assert_eq!(share_of(0.05, 59), 2, "2.95 is not 3");

        assert_eq!(share_of(0.29, 100), 29, "0.29 times 100 is 28.999999999999996");
    }
}
