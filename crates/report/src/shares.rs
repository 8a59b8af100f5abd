//! Distance weights in one unit: the share of a feature in the distance, for a step of one standard deviation.

use counterpoise_core::digest::Generation;

/// A feature's share of the distance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) name: String,
    /// Its place among the features.
    pub(crate) place: usize,
    /// In the last generation, mean over folds.
    pub(crate) share: f64,
    /// Least and most over the folds of the last generation.
    pub(crate) folds: (f64, f64),
    /// Least and most over the generations, each the mean over its folds.
    pub(crate) generations: (f64, f64),
    /// The distance weight itself, mean over folds.
    pub(crate) weight: f64,
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
pub(crate) fn of_generation(generation: &Generation) -> Vec<f64> {
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
pub(crate) fn shares(history: &[Generation]) -> Vec<Share> {
    let Some(last) = history.last() else { return vec![] };
    let folds: Vec<Vec<f64>> = last.weights.iter().map(|weights| fold(weights, &last.spread)).collect();
    // Features of a reduction may change from one generation to the next: those of the same names are compared.
    let before: Vec<Vec<f64>> =
        history.iter().filter(|one| one.features == last.features).map(of_generation).collect();
    let (mean, weights) = (of_generation(last), last.mean_weights());
    let mut shares: Vec<Share> = (0..last.features.len())
        .map(|j| Share {
            name: last.features[j].clone(),
            place: j,
            share: mean[j],
            folds: ends(folds.iter().map(|fold| fold[j])),
            generations: ends(before.iter().map(|shares| shares[j])),
            weight: weights[j],
        })
        .collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.place.cmp(&b.place)));
    shares
}
