use std::fs::File;

use counterpoise_core::digest::{Information, Ties};
use counterpoise_core::problem::law::Scale;

use super::*;

fn scales() -> Vec<UnitScale> {
    let scale = |scale, centre, spread| UnitScale { scale, centre, spread };
    vec![scale(Scale::Log, 0.1, 3.0), scale(Scale::Linear, -0.7, 0.3), scale(Scale::Whole, 4.5, 1.7)]
}

/// Names that collide with those of coordinates, with or without these.
fn parameters() -> Vec<String> {
    ["x", "unit_x", "distance"].map(String::from).to_vec()
}

/// Particles whose coordinates follow from the parameters, but for one of a parameter, by a bit.
fn population(but: Option<usize>) -> Population {
    let scales = scales();
    let naturals = |at: usize| [0.1 + at as f64 / 7.0, at as f64 / 3.0, (at % 9) as f64];
    let mut units: Vec<f64> = (0..50)
        .flat_map(|at| (0..3).map(move |j| (naturals(at)[j], j)))
        .map(|(x, j)| scales[j].unit(x))
        .collect();
    if let Some(parameter) = but {
        units[3 * 31 + parameter] = units[3 * 31 + parameter].next_up();
    }
    Population {
        thetas: Table::from_rows(3, (0..50).flat_map(naturals).collect()),
        units: Table::from_rows(3, units),
        weights: LogWeights::new((0..50).map(|at| -f64::from(at) / 3.0).collect()).unwrap(),
        distances: (0..50).map(|at| f64::from(at) / 11.0).collect(),
        rows: (0..50).map(|at| 3 * at).collect(),
    }
}

fn generation(population: Population) -> Generation {
    Generation {
        index: 1,
        simulations: 200,
        features: vec!["s".into()],
        weights: vec![vec![1.0]],
        in_sample: false,
        evaluations: 0,
        evidence: Vec::new(),
        information: Information { in_sample: 0.0, held_out: 0.0, baselines: Default::default() },
        spread: vec![1.0],
        influence: vec![1.0],
        constant: Vec::new(),
        unreached: Vec::new(),
        ties: Ties { at_threshold: 0, parameters: 0 },
        failed: 0,
        failure: None,
        population,
        adjusted: None,
    }
}

/// The names of the columns that are written with some scales known, and the file.
fn written(path: &Path, generation: &Generation, units: Vec<UnitScale>) -> Vec<String> {
    let header = Header {
        description: serde_json::Value::Null,
        parameters: parameters(),
        statistics: Vec::new(),
        units,
    };
    let columns = columns(&header, generation, &generation.population);
    columns.write(File::create(path).unwrap(), 50, |_| ()).unwrap();
    Sheet::open(path).unwrap().names().to_vec()
}

const SHAPE: Shape = Shape { generation: 1, run: 0, rows: 200, columns: 1 };
const ALL: [&str; 10] = [
    "row",
    "x",
    "unit_x",
    "distance",
    "unit_x_",
    "unit_unit_x",
    "unit_distance",
    "log_importance_weight",
    "distance_",
    "generation",
];

#[test]
fn coordinates_that_follow_are_left_out_and_come_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.parquet");
    for but in [None, Some(0), Some(1), Some(2)] {
        let generation = generation(population(but));
        let names = written(&path, &generation, scales());
        let expected = ALL.iter().enumerate().filter(|(at, _)| !(4..7).contains(at) || but == Some(at - 4));
        assert_eq!(names, expected.map(|(_, name)| *name).collect::<Vec<_>>(), "{but:?}");
        let read = read(&path, &parameters(), Some(&scales()), &SHAPE).unwrap();
        assert_eq!(read, generation.population, "{but:?}");
        let bits = |table: &Table| table.values().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read.units), bits(&generation.population.units), "{but:?}");
        let chosen = without_units(&names, &parameters()).unwrap();
        let chosen: Vec<&str> = chosen.into_iter().map(|at| &*names[at]).collect();
        assert_eq!(
            chosen,
            ["row", "x", "unit_x", "distance", "log_importance_weight", "distance_", "generation"]
        );
    }
}

#[test]
fn without_scales_all_are_there_and_needed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.parquet");
    let generation = generation(population(None));
    assert_eq!(written(&path, &generation, Vec::new()), ALL);
    assert_eq!(read(&path, &parameters(), None, &SHAPE).unwrap(), generation.population);
    written(&path, &generation, scales());
    for known in [None, Some(&scales()[..1])] {
        let refused = read(&path, &parameters(), known, &SHAPE).unwrap_err().to_string();
        let missing = if known.is_none() { "x" } else { "unit_x" };
        let expected =
            format!("it has no unit-space coordinates of `{missing}`, and generation.json no scale of it");
        assert!(refused.contains(&expected), "{refused}");
    }
    let other = ["x", "unit_x", "y"].map(String::from);
    let refused = read(&path, &other, Some(&scales()), &SHAPE).unwrap_err().to_string();
    assert!(refused.contains("its columns are not those of a population"), "{refused}");
}

/// Files of the first versions that kept simulations had no generation.
#[test]
fn particles_without_a_generation_are_those_of_their_own() {
    let all = ALL.map(String::from);
    assert_eq!(present(&all[..9], &parameters()).unwrap(), (0..9).collect::<Vec<_>>());
    assert_eq!(without_units(&all[..9], &parameters()).unwrap(), [0, 1, 2, 3, 7, 8]);
    // One coordinate of three is left out: as many columns, and another meaning.
    let some = [&all[..5], &all[6..]].concat();
    assert_eq!(present(&some, &parameters()).unwrap(), [0, 1, 2, 3, 4, 6, 7, 8, 9]);
    assert_eq!(present(&all[1..], &parameters()), None);
}
