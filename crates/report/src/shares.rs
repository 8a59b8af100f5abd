//! How much each statistic or feature counts, as a share: in the distance, weights for a step of one standard deviation; for the
//! posterior, where weights do not tell it, the influence of each statistic.

use counterpoise_core::digest::Generation;

use crate::run::Run;

/// A share of the distance, or of all influence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) name: String,
    /// Its place among its kind.
    pub(crate) place: usize,
    /// In the last generation, mean over folds.
    pub(crate) share: f64,
    /// Least and most over the folds of the last generation.
    pub(crate) folds: (f64, f64),
    /// Least and most over the generations, each the mean over its folds.
    pub(crate) generations: (f64, f64),
    /// The distance weight itself, mean over folds, if it has one.
    pub(crate) weight: Option<f64>,
}

/// Whether distance weights of the last generation do not tell how much statistics count: features made of them are compared, or a
/// regression moves what is accepted.
pub(crate) fn by_influence(run: &Run) -> bool {
    let Some(last) = run.history.last() else { return false };
    let is_made = |(name, weight): (&String, f64)| weight > 0.0 && !run.problem.statistics.contains(name);
    !last.influence.is_empty()
        && (last.is_moved() || last.features.iter().zip(last.mean_weights()).any(is_made))
}

/// Names and shares of the last generation's statistics, in their order.
pub(crate) fn in_order(run: &Run) -> (&[String], Vec<f64>) {
    match run.history.last() {
        None => (&[], vec![]),
        Some(last) if by_influence(run) => (&run.problem.statistics, last.influence.clone()),
        Some(last) => (&last.features, of_generation(last)),
    }
}

/// Shares of the statistics, the heaviest first.
pub(crate) fn statistics(run: &Run) -> Vec<Share> {
    if !by_influence(run) {
        return features(&run.history);
    }
    let (names, shares) = in_order(run);
    let told = || run.history.iter().filter(|one| one.influence.len() == names.len());
    let share = |(j, name): (usize, &String)| Share {
        name: name.clone(),
        place: j,
        share: shares[j],
        folds: (shares[j], shares[j]),
        generations: ends(told().map(|one| one.influence[j])),
        weight: None,
    };
    sorted(names.iter().enumerate().map(share).collect())
}

/// Weights times standard deviations of one fold, as shares of their sum.
fn fold(weights: &[f64], spread: &[f64]) -> Vec<f64> {
    let products: Vec<f64> = weights
        .iter()
        .zip(spread)
        .map(|(weight, sd)| weight * sd)
        .map(|product| if product.is_finite() { product } else { 0.0 })
        .collect();
    let total: f64 = products.iter().sum();
    products.into_iter().map(|product| if total > 0.0 { product / total } else { 0.0 }).collect()
}

/// Shares of a generation's features, mean over folds.
fn of_generation(generation: &Generation) -> Vec<f64> {
    let folds: Vec<Vec<f64>> =
        generation.weights.iter().map(|weights| fold(weights, &generation.spread)).collect();
    (0..generation.features.len())
        .map(|j| folds.iter().map(|fold| fold[j]).sum::<f64>() / folds.len() as f64)
        .collect()
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// Shares of all features, the heaviest first.
pub(crate) fn features(history: &[Generation]) -> Vec<Share> {
    let Some(last) = history.last() else { return vec![] };
    let folds: Vec<Vec<f64>> = last.weights.iter().map(|weights| fold(weights, &last.spread)).collect();
    // Features of a reduction may change from one generation to the next: those of the same names are compared.
    let before: Vec<Vec<f64>> =
        history.iter().filter(|one| one.features == last.features).map(of_generation).collect();
    let (mean, weights) = (of_generation(last), last.mean_weights());
    let shares = (0..last.features.len())
        .map(|j| Share {
            name: last.features[j].clone(),
            place: j,
            share: mean[j],
            folds: ends(folds.iter().map(|fold| fold[j])),
            generations: ends(before.iter().map(|shares| shares[j])),
            weight: Some(weights[j]),
        })
        .collect();
    sorted(shares)
}

fn sorted(mut shares: Vec<Share>) -> Vec<Share> {
    shares.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.place.cmp(&b.place)));
    shares
}
