//! The options of `rule = "hellinger"`: what is measured, by which estimator, and how it is searched.

use counterpoise_core::divergence::{Divergence, Entropy, Exponent, Form, Paper, Reversed};
use counterpoise_core::search::{CmaEs, Coordinate, NelderMead, Random, Search, SparseMutation, Zeros};
use counterpoise_core::weigh;
use serde_json::{Value, json};

use super::reading::Section;

pub(super) const MOST_EVALUATIONS: u64 = 1_000_000_000;
const MOST_NEIGHBOURS: u64 = 1_000_000;

/// Makes an estimator with so many neighbours, where it can measure the form.
type Estimate = fn(usize, Form) -> Option<Box<dyn Divergence>>;
/// Makes a search.
type Maximise = fn() -> Box<dyn Search>;

/// Every estimator under its name in problem files; the first is the default.
const ESTIMATORS: [(&str, Estimate); 3] = [
    ("entropy", |neighbours, form| Some(Box::new(Entropy { neighbours, form }))),
    ("paper", |neighbours, form| {
        Some(Box::new(Paper { neighbours, order: order(form)?, exponent: Exponent::Corrected }))
    }),
    ("reversed", |neighbours, form| Some(Box::new(Reversed { neighbours, order: order(form)? }))),
];
/// Every divergence under its name in problem files; the first is the default.
const DIVERGENCES: [(&str, Form); 3] =
    [("hellinger", Form::HELLINGER), ("kullback-leibler", Form::KullbackLeibler), ("l2", Form::Squared)];
/// Every search under its name in problem files; the first is the default.
const SEARCHES: [(&str, Maximise); 6] = [
    ("sparse", || Box::new(SparseMutation::default())),
    ("zeros", || Box::new(Zeros::default())),
    ("cma-es", || Box::new(CmaEs::default())),
    ("random", || Box::new(Random)),
    ("nelder-mead", || Box::new(NelderMead::default())),
    ("coordinate", || Box::new(Coordinate::default())),
];

/// The names that options which take one may have, for the guide.
pub(super) fn choices() -> [(&'static str, Vec<&'static str>); 3] {
    [
        ("estimator", ESTIMATORS.iter().map(|(name, _)| *name).collect()),
        ("divergence", DIVERGENCES.iter().map(|(name, _)| *name).collect()),
        ("search", SEARCHES.iter().map(|(name, _)| *name).collect()),
    ]
}

fn order(form: Form) -> Option<f64> {
    match form {
        Form::Order(order) => Some(order),
        _ => None,
    }
}

/// All options.
#[derive(Clone, Debug)]
pub(super) struct Hellinger {
    estimator: (&'static str, Estimate),
    form: Form,
    neighbours: usize,
    /// Whether fewer particles than neighbours are a mistake.
    strict: bool,
    search: (&'static str, Maximise),
    evaluations: usize,
    cross_fit: bool,
    penalty: f64,
}

/// The options of a section; defaults where a mistake leaves something open.
pub(super) fn read(section: &mut Section<'_>) -> Hellinger {
    let options =
        ["estimator", "divergence", "order", "neighbours", "search", "evaluations", "cross_fit", "penalty"];
    section.only(&[&["rule"], &options[..]].concat());
    let estimator = section.named("estimator", &ESTIMATORS).unwrap_or(ESTIMATORS[0]);
    let neighbours = read_neighbours(section);
    Hellinger {
        estimator,
        form: read_form(section, estimator),
        neighbours: neighbours.unwrap_or(weigh::Hellinger::NEIGHBOURS),
        // The default estimator takes fewer where there are few particles: nothing is wrong unless it was told.
        strict: neighbours.is_some() || estimator.0 != ESTIMATORS[0].0,
        search: section.named("search", &SEARCHES).unwrap_or(SEARCHES[0]),
        evaluations: section
            .whole("evaluations", 1..=MOST_EVALUATIONS)
            .map_or(weigh::Hellinger::EVALUATIONS, |evaluations| evaluations as usize),
        cross_fit: section.boolean("cross_fit").unwrap_or(weigh::Hellinger::default().cross_fit),
        penalty: section
            .number_that("penalty", "a number of at least 0", |penalty| penalty >= 0.0)
            .unwrap_or(weigh::Hellinger::PENALTY),
    }
}

pub(super) fn read_neighbours(section: &mut Section<'_>) -> Option<usize> {
    section.whole("neighbours", 2..=MOST_NEIGHBOURS).map(|neighbours| neighbours as usize)
}

pub(super) fn read_order(section: &mut Section<'_>) -> Option<f64> {
    section.number_that("order", "a number between 0 and 1", |order| order > 0.0 && order < 1.0)
}

/// What is measured, which the estimator must be able to.
fn read_form(section: &mut Section<'_>, (estimator, estimate): (&str, Estimate)) -> Form {
    if section.has("divergence") && section.has("order") {
        let hint = "divergence = \"hellinger\" is order = 0.5: keep one of them".to_owned();
        section.mistake("order", "`divergence` and `order` both say what is measured", hint);
    }
    let written = read_order(section).map(Form::Order);
    let named = section.named("divergence", &DIVERGENCES).map(|(_, form)| form);
    let form = named.or(written).unwrap_or(DIVERGENCES[0].1);
    if estimate(weigh::Hellinger::NEIGHBOURS, form).is_none() {
        let message = format!("the estimator `{estimator}` measures divergences of an order only");
        section.mistake("divergence", message, "use estimator = \"entropy\"".to_owned());
    }
    form
}

impl Hellinger {
    /// Neighbours that cannot be done without, and the fewest particles they are looked for among.
    pub(super) fn neighbours(&self, keep: usize) -> Option<(usize, usize)> {
        self.strict.then_some((self.neighbours, if self.cross_fit { keep / 2 } else { keep }))
    }

    /// Adds every option to a run's description.
    pub(super) fn describe(&self, described: &mut Value) {
        described["estimator"] = json!(self.estimator.0);
        match (self.form, DIVERGENCES.iter().find(|(_, form)| *form == self.form)) {
            (Form::Order(order), _) => described["order"] = json!(order),
            (_, named) => described["divergence"] = json!(named.map(|(name, _)| name)),
        }
        described["neighbours"] = json!(self.neighbours);
        described["search"] = json!(self.search.0);
        described["evaluations"] = json!(self.evaluations);
        described["cross_fit"] = json!(self.cross_fit);
        described["penalty"] = json!(self.penalty);
    }

    /// The rule itself.
    pub(super) fn build(&self) -> weigh::Hellinger {
        let divergence = (self.estimator.1)(self.neighbours, self.form);
        weigh::Hellinger {
            divergence: divergence.expect("a file whose estimator cannot measure the form is refused"),
            search: (self.search.1)(),
            evaluations: self.evaluations,
            cross_fit: self.cross_fit,
            penalty: self.penalty,
            ..weigh::Hellinger::default()
        }
    }
}
