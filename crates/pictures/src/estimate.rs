//! Curves from weighted values.

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Where.
    pub x: Vec<f64>,
    /// How much.
    pub y: Vec<f64>,
}

/// A histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// One more than heights.
    pub edges: Vec<f64>,
    /// Density: the bars' areas sum to 1.
    pub heights: Vec<f64>,
}

const PLACES: usize = 101;

/// Values with their shares of the weight, in logarithms (base 10) where told; nothing where no weight is left.
fn usable(values: &[f64], weights: Option<&[f64]>, log: bool) -> Option<Vec<(f64, f64)>> {
    let weighted = values.iter().enumerate().map(|(index, &value)| {
        let weight = weights.map_or(1.0, |weights| weights.get(index).copied().unwrap_or(0.0));
        (if log { value.log10() } else { value }, weight)
    });
    let kept: Vec<(f64, f64)> =
        weighted.filter(|(value, weight)| value.is_finite() && weight.is_finite() && *weight > 0.0).collect();
    let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
    (total > 0.0).then(|| kept.into_iter().map(|(value, weight)| (value, weight / total)).collect())
}

/// A kernel estimate of the density of weighted values, at 101 places. With `log` it is the density of the logarithm (base 10), for a
/// logarithmic axis. `range` says where the values can be at all: what a kernel puts outside is reflected.
///
/// The width of the Gaussian kernel is Silverman's, from the smaller of standard deviation and quartile distance and the effective number
/// of values. Nothing is returned where there is no finite value with a weight.
#[must_use]
pub fn density(
    values: &[f64],
    weights: Option<&[f64]>,
    log: bool,
    range: Option<(f64, f64)>,
) -> Option<Curve> {
    let mut kept = usable(values, weights, log)?;
    kept.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mean: f64 = kept.iter().map(|(value, share)| share * value).sum();
    let variance: f64 = kept.iter().map(|(value, share)| share * (value - mean).powi(2)).sum();
    let effective = 1.0 / kept.iter().map(|(_, share)| share * share).sum::<f64>();
    let quartiles = (quantile(&kept, 0.75) - quantile(&kept, 0.25)) / 1.349;
    let spread = if quartiles > 0.0 { variance.sqrt().min(quartiles) } else { variance.sqrt() };
    let least = 1e-3 * mean.abs().max(1e-9);
    let bandwidth = (0.9 * spread * effective.powf(-0.2)).max(least);
    let warped = |end: f64| if log { end.log10() } else { end };
    let limits = range.map_or((f64::NEG_INFINITY, f64::INFINITY), |(low, high)| (warped(low), warped(high)));
    let limits = (
        if limits.0.is_nan() { f64::NEG_INFINITY } else { limits.0 },
        if limits.1.is_nan() { f64::INFINITY } else { limits.1 },
    );
    let low = (kept[0].0 - 3.0 * bandwidth).max(limits.0);
    let high = (kept[kept.len() - 1].0 + 3.0 * bandwidth).min(limits.1);
    let step = (high - low) / (PLACES - 1) as f64;
    let places: Vec<f64> = (0..PLACES).map(|index| low + step * index as f64).collect();
    let mut heights = vec![0.0; PLACES];
    let scale = 1.0 / (bandwidth * (2.0 * std::f64::consts::PI).sqrt());
    for &(value, share) in &kept {
        let mirrored = [value, 2.0 * limits.0 - value, 2.0 * limits.1 - value];
        for centre in mirrored.into_iter().filter(|centre| centre.is_finite()) {
            let first = (((centre - 5.0 * bandwidth - low) / step).floor().max(0.0) as usize).min(PLACES);
            for (place, height) in places.iter().zip(&mut heights).skip(first) {
                let distance = (place - centre) / bandwidth;
                if distance > 5.0 {
                    break;
                }
                *height += share * scale * (-0.5 * distance * distance).exp();
            }
        }
    }
    let x = places.into_iter().map(|place| if log { 10f64.powf(place) } else { place }).collect();
    Some(Curve { x, y: heights })
}

fn quantile(sorted: &[(f64, f64)], share: f64) -> f64 {
    let mut sum = 0.0;
    for &(value, weight) in sorted {
        sum += weight;
        if sum >= share {
            return value;
        }
    }
    sorted.last().map_or(f64::NAN, |last| last.0)
}

/// A histogram of weighted values in equal bins between two ends; with `log` bins and densities are those of the logarithm (base 10). Values
/// outside are left out of the bars, but count in the total.
#[must_use]
pub fn histogram(
    values: &[f64],
    weights: Option<&[f64]>,
    log: bool,
    range: (f64, f64),
    bins: usize,
) -> Option<Histogram> {
    let kept = usable(values, weights, log)?;
    let warped = |end: f64| if log { end.log10() } else { end };
    let (low, high) = (warped(range.0), warped(range.1));
    if !(low.is_finite() && high.is_finite() && low < high && bins > 0) {
        return None;
    }
    let width = (high - low) / bins as f64;
    let mut heights = vec![0.0; bins];
    for (value, share) in kept {
        let bin = (value - low) / width;
        if bin >= 0.0 && value <= high {
            heights[(bin as usize).min(bins - 1)] += share / width;
        }
    }
    let edges = (0..=bins).map(|index| low + width * index as f64);
    let edges = edges.map(|edge| if log { 10f64.powf(edge) } else { edge }).collect();
    Some(Histogram { edges, heights })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_has_area_one_even_at_the_end_of_its_range() {
        let values: Vec<f64> = (0..1000).map(|index| (f64::from(index) + 0.5) / 1000.0).collect();
        let curve = density(&values, None, false, Some((0.0, 1.0))).unwrap();
        let area: f64 = curve
            .x
            .windows(2)
            .zip(curve.y.windows(2))
            .map(|(x, y)| (x[1] - x[0]) * (y[0] + y[1]) / 2.0)
            .sum();
        assert!((area - 1.0).abs() < 0.01, "{area}");
        // The uniform density is 1 everywhere, its ends included.
        assert!(curve.y.iter().all(|height| (height - 1.0).abs() < 0.02), "{:?}", curve.y);
    }

    #[test]
    fn weights_count() {
        let curve = density(&[0.0, 1.0, 2.0], Some(&[0.0, 1.0, 0.0]), false, None).unwrap();
        let peak = (0..PLACES).max_by(|one, other| curve.y[*one].total_cmp(&curve.y[*other])).unwrap();
        assert!((curve.x[peak] - 1.0).abs() < 0.01);
        assert_eq!(density(&[f64::NAN], None, false, None), None);
        assert_eq!(density(&[-1.0], None, true, None), None);
    }

    #[test]
    fn a_histogram_counts() {
        let bars = histogram(&[1.0, 10.0, 10.0, 1000.0], None, true, (0.1, 100.0), 3).unwrap();
        assert_eq!(bars.heights, [0.0, 0.25, 0.5]);
        assert!((bars.edges[1] - 1.0).abs() < 1e-12);
        assert!(histogram(&[1.0], None, false, (1.0, 1.0), 3).is_none());
    }
}
