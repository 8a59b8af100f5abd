//! Statistics that are an observable at a time: `S1@2.5`.

/// One observable over time: places among the statistics, by rising time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) times: Vec<f64>,
    pub(crate) places: Vec<usize>,
}

/// Observables with three or more times, in the order in which they first appear.
pub(crate) fn series(names: &[String]) -> Vec<Series> {
    let mut found: Vec<Series> = vec![];
    let mut index = std::collections::BTreeMap::new();
    for (place, name) in names.iter().enumerate() {
        let Some((observable, time)) = name.rsplit_once('@') else { continue };
        let Ok(time) = time.parse::<f64>() else { continue };
        if !time.is_finite() {
            continue;
        }
        let at = *index.entry(observable.to_owned()).or_insert_with(|| {
            found.push(Series { name: observable.to_owned(), times: vec![], places: vec![] });
            found.len() - 1
        });
        found[at].times.push(time);
        found[at].places.push(place);
    }
    found.retain(|series| series.times.len() >= 3);
    for series in &mut found {
        let mut order: Vec<usize> = (0..series.times.len()).collect();
        order.sort_by(|&a, &b| series.times[a].total_cmp(&series.times[b]));
        series.times = order.iter().map(|&at| series.times[at]).collect();
        series.places = order.iter().map(|&at| series.places[at]).collect();
    }
    found
}

/// Whether times are better drawn on a logarithmic axis: most are crowded at its begin.
pub(crate) fn is_geometric(times: &[f64]) -> bool {
    let positive: Vec<f64> = times.iter().copied().filter(|time| *time > 0.0).collect();
    match (positive.first(), positive.last()) {
        (Some(first), Some(last)) => {
            last / first > 100.0 && positive[positive.len() / 2] < first + (last - first) * 0.1
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observables_are_told_from_other_statistics() {
        let names = ["B@2", "z", "A@1", "A@0", "B@1", "A@0.5", "x@y", "B@10"].map(str::to_owned);
        let found = series(&names);
        assert_eq!(found.len(), 2);
        assert_eq!((&*found[0].name, &found[0].times[..]), ("B", &[1.0, 2.0, 10.0][..]));
        assert_eq!(found[1].places, [3, 5, 2]);
    }

    #[test]
    fn crowded_times_are_geometric() {
        assert!(is_geometric(&[0.0, 0.001, 0.01, 0.1, 1.0, 100.0]));
        assert!(!is_geometric(&[0.0, 1.0, 2.0, 3.0]));
        assert!(!is_geometric(&[0.0, 0.01, 1.0, 2.0, 3.0, 4.0]));
    }
}
