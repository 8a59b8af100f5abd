//! A run's directory: files that others can read, a refusal to mix runs, no half-written files.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use counterpoise_core::adjust::{Accepted, AdjustError, Adjusted, Adjustment, Judged, Simulations};
use counterpoise_core::digest::{Analysis, Method};
use counterpoise_core::problem::{Failure, Marginal, Prior, Problem, Simulator, law};
use counterpoise_core::propose::{Adaptive, Covariance};
use counterpoise_core::reduce::{Beside, Identity, Learned};
use counterpoise_core::stop::{AfterGenerations, StopReason};
use counterpoise_core::stream::{Seed, Stage, Stream};
use counterpoise_core::weigh::{Auto, ByFormula, Uniform};
use counterpoise_core::workers::Serial;
use counterpoise_models::{Preset, builtin, setting};
use counterpoise_run::drive::{self, Event};
use counterpoise_run::executor::Threads;
use counterpoise_run::store::{
    Directory, Header, POSTERIOR_FILE, RUN_FILE, RunRecord, Sheet, Store, StoreError, Values, verify,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::json;

struct Echo;

impl Simulator for Echo {
    fn summaries(&self) -> usize {
        1
    }

    fn simulate(&self, theta: &[f64], _: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries[0] = theta[0];
        Ok(())
    }
}

fn analysis() -> Analysis {
    let law = Box::new(law::Uniform::new(0.0, 1.0).unwrap());
    Analysis {
        problem: Problem {
            prior: Prior::new(vec![Marginal::new("x", law)]).into(),
            statistics: vec!["s".into()],
            observed: vec![0.5],
        },
        method: Method {
            simulations: 200,
            keep: 20,
            proposal: Box::new(Covariance),
            reduction: Box::new(Identity),
            weighting: Box::new(ByFormula(Box::new(Uniform))),
            adjustment: None,
            stop: Box::new(AfterGenerations(2)),
        },
        seed: Seed(1),
    }
}

fn header(seed: u64) -> Header {
    Header {
        description: json!({ "method": { "seed": seed, "keep": 20 } }),
        parameters: vec!["x".into()],
        statistics: vec!["s".into()],
        units: Vec::new(),
    }
}

#[test]
fn a_run_can_be_read_back_and_is_not_mixed_with_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut store = Directory::new(&path);
    assert!(RunRecord::read(&path).unwrap().is_none());
    let mut executor = Threads::new(Echo, 1, None);
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let finished =
        drive::run((&analysis(), &header(1)), &mut executor, &mut store, &Serial, &mut go_on).unwrap();
    store.record().unwrap().write(&json!({ "finished": true })).unwrap();
    drop(store);

    assert_eq!(RunRecord::read(&path).unwrap().unwrap().summary, json!({ "finished": true }));
    assert_eq!(Directory::new(&path).open(&header(1)).unwrap(), finished.history, "to the bit");
    let Err(StoreError::Mismatch { differences, .. }) = Directory::new(&path).open(&header(2)) else {
        panic!("another seed must be refused")
    };
    assert_eq!(differences, ["method.seed was 1 and is now 2"]);

    let file = fs::File::open(path.join(POSTERIOR_FILE)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let names: Vec<String> = reader
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .iter()
        .map(|field| field.name().into())
        .collect();
    assert_eq!(names, ["x", "importance_weight", "distance", "generation", "row"]);
    let population = &finished.history[1].population;
    let mut total = 0.0;
    for (i, row) in reader.get_row_iter(None).unwrap().enumerate() {
        let row = row.unwrap();
        assert_eq!(row.get_double(0).unwrap(), population.thetas.at(i, 0));
        assert_eq!(row.get_long(3).unwrap(), 1);
        assert_eq!(row.get_long(4).unwrap(), i64::from(population.rows[i]));
        total += row.get_double(1).unwrap();
    }
    assert!((total - 1.0).abs() < 1e-12);
    let mut left: Vec<_> =
        fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["generations", "lock", POSTERIOR_FILE, RUN_FILE], "no temporary file is left");
}

/// Leaves the particles of the first generation as they are, and moves one of the others.
#[derive(Debug)]
struct Hesitant;

impl Adjustment for Hesitant {
    fn adjust(&self, accepted: &Accepted<'_>, all: &Simulations<'_>) -> Result<Adjusted, AdjustError> {
        let mut population = accepted.population.clone();
        if all.view.previous.is_some() {
            population.thetas.row_mut(0)[0] = 0.75;
        }
        Ok(Adjusted { population, evidence: Vec::new() })
    }
}

#[test]
fn particles_that_an_adjustment_leaves_alone_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut analysis = analysis();
    analysis.method.adjustment = Some(Box::new(Hesitant));
    let (mut store, mut executor) = (Directory::new(folder.path()), Threads::new(Echo, 1, None));
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let finished =
        drive::run((&analysis, &header(1)), &mut executor, &mut store, &Serial, &mut go_on).unwrap();
    drop(store);
    let written = ["000", "001"]
        .map(|index| folder.path().join("generations").join(index).join("adjusted.parquet").exists());
    assert_eq!(written, [false, true]);
    assert!(finished.history.iter().all(|generation| generation.adjusted.is_some()));
    assert_eq!(Directory::new(folder.path()).open(&header(1)).unwrap(), finished.history, "to the bit");
}

/// Moves all particles of later generations, and puts them where the prior says that they are.
#[derive(Debug)]
struct Placing;

impl Adjustment for Placing {
    fn adjust(&self, accepted: &Accepted<'_>, all: &Simulations<'_>) -> Result<Adjusted, AdjustError> {
        let mut population = accepted.population.clone();
        let scale = analysis().problem.prior.unit_scales()[0];
        for row in 0..population.len() {
            let theta = population.thetas.at(row, 0) * if all.view.previous.is_some() { 0.9 } else { 0.8 };
            population.thetas.row_mut(row)[0] = theta;
            population.units.row_mut(row)[0] = scale.unit(theta);
        }
        Ok(Adjusted { population, evidence: Vec::new() })
    }
}

/// Unit-space coordinates that follow from the parameters are not in the file of a run, and come back to the bit, whether or not whoever
/// opens it knows the scales.
#[test]
fn coordinates_that_follow_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut analysis = analysis();
    analysis.method.adjustment = Some(Box::new(Placing));
    let placed = Header { units: analysis.problem.prior.unit_scales(), ..header(1) };
    let names = |path: &Path, file: &str| {
        let sheet = Sheet::open(&path.join("generations/001").join(file)).unwrap();
        sheet.names().to_vec()
    };
    let some = ["row", "x", "log_importance_weight", "distance", "generation"];
    let all = ["row", "x", "unit_x", "log_importance_weight", "distance", "generation"];
    for (name, header_of, left) in [("known", &placed, &some[..]), ("unknown", &header(1), &all[..])] {
        let path = folder.path().join(name);
        let (mut store, mut executor) = (Directory::new(&path), Threads::new(Echo, 1, None));
        let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
        let finished =
            drive::run((&analysis, header_of), &mut executor, &mut store, &Serial, &mut go_on).unwrap();
        drop(store);
        assert_eq!(names(&path, "adjusted.parquet"), left);
        assert_eq!(names(&path, "population.parquet"), left);
        for opened_by in [&placed, &header(1)] {
            assert_eq!(Directory::new(&path).open(opened_by).unwrap(), finished.history, "to the bit");
        }
        assert_eq!(verify(&path).unwrap().problems, []);
    }
}

/// The death process at its truth: 33 counts and a reading.
fn death() -> (Analysis, Header, Box<dyn Simulator>) {
    let (built, setting) =
        (builtin("death", Preset::Text, &[]).unwrap(), setting("death", Preset::Text).unwrap());
    let mut observed = vec![0.0; built.statistics.len()];
    let mut rng = Seed(1).stream(Stage::Observe, 0, 0);
    built.simulator.simulate(&setting.truth(), &mut rng, &mut observed).unwrap();
    let (prior, statistics) = (setting.prior().unwrap(), built.statistics);
    let header = Header {
        description: json!({}),
        parameters: built.parameters,
        statistics: statistics.clone(),
        units: prior.unit_scales(),
    };
    let problem = Problem { prior: prior.into(), statistics, observed };
    (Analysis { problem, ..analysis() }, header, built.simulator)
}

/// Rows that are not in order are read as they were simulated: a run of counts that goes on is that which was never stopped.
#[test]
fn a_run_whose_rows_are_out_of_order_goes_on() {
    let (mut analysis, header, simulator) = death();
    (analysis.method.simulations, analysis.method.keep) = (1_500, 100);
    analysis.method.proposal = Box::new(Adaptive);
    analysis.method.reduction = Box::new(Beside(Box::new(Learned::default())));
    analysis.method.weighting = Box::new(Auto::default());
    analysis.method.adjustment = Some(Box::new(Judged));
    let folder = tempfile::tempdir().unwrap();
    let mut executor = Threads::new(simulator, 1, None);
    let mut to = |generations: usize, name: &str| {
        analysis.method.stop = Box::new(AfterGenerations(generations));
        let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
        let mut store = Directory::new(folder.path().join(name));
        drive::run((&analysis, &header), &mut executor, &mut store, &Serial, &mut go_on).unwrap().history
    };
    let whole = to(4, "whole");
    to(2, "parts");
    to(3, "parts");
    assert_eq!(to(4, "parts"), whole);
    let rows = |generation: &str| {
        let path = folder.path().join("parts/generations").join(generation).join("simulations.parquet");
        match Sheet::open(&path).unwrap().read(0).unwrap().swap_remove(0) {
            Values::Whole(rows) => rows,
            _ => unreachable!("numbers of rows"),
        }
    };
    assert!(rows("000").is_sorted(), "draws from the prior stay in order");
    assert!(!rows("001").is_sorted() && !rows("002").is_sorted());
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { size(&path) } else { fs::metadata(&path).unwrap().len() }).sum()
}

/// 33 counts of up to ten and three numbers without end, which have 288 bytes as doubles, and all that the directory tells besides: 32.2 bytes
/// a simulation when this was written, 39 before rows were sorted, 46 before columns were split and compressed.
#[test]
fn a_simulation_of_counts_takes_little_room() {
    let (mut analysis, header, simulator) = death();
    (analysis.method.simulations, analysis.method.keep) = (5_000, 250);
    let folder = tempfile::tempdir().unwrap();
    let (mut store, mut executor) = (Directory::new(folder.path()), Threads::new(simulator, 2, None));
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let finished = drive::run((&analysis, &header), &mut executor, &mut store, &Serial, &mut go_on).unwrap();
    drop(store);
    let each = size(folder.path()) as f64 / 10_000.0;
    assert!(each < 32.6, "{each} bytes a simulation");
    assert_eq!(Directory::new(folder.path()).open(&header).unwrap(), finished.history, "to the bit");
}

#[test]
fn other_formats_and_garbage_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(RUN_FILE);
    fs::write(&file, "{\"format\": 99}").unwrap();
    let error = RunRecord::read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("has format 99; this version reads formats 1 to 3"), "{error}");
    assert!(matches!(Directory::new(folder.path()).open(&header(1)), Err(StoreError::Format { .. })));
    fs::write(&file, "not json").unwrap();
    assert!(matches!(RunRecord::read(folder.path()), Err(StoreError::Unreadable { .. })));
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    fs::write(&blocked, "").unwrap();
    let mut store = Directory::new(blocked.join("run"));
    let mut executor = Threads::new(Echo, 1, None);
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let error =
        drive::run((&analysis(), &header(1)), &mut executor, &mut store, &Serial, &mut go_on).unwrap_err();
    assert!(error.to_string().contains("file/run"), "{error}");
}

/// Fails where the parameter is large.
struct Picky;

impl Simulator for Picky {
    fn summaries(&self) -> usize {
        1
    }

    fn simulate(&self, theta: &[f64], _: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries[0] = theta[0];
        if theta[0] > 0.9 { Err(Failure::Declined("too large".into())) } else { Ok(()) }
    }
}

/// Generations come back to the bit, failures and their example included, and from a store that was cut anywhere.
#[test]
fn a_run_cut_and_opened_again_equals_the_uncut_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = |store: &mut Directory, cut: usize| {
        let mut executor = Threads::new(Picky, 2, Some(1));
        let mut stop = |event: Event<'_>| match event {
            Event::Simulated { index, done, .. } if 200 * index as usize + done >= cut => {
                ControlFlow::Break(StopReason::Interrupt)
            }
            _ => ControlFlow::Continue(()),
        };
        drive::run((&analysis(), &header(1)), &mut executor, store, &Serial, &mut stop).unwrap()
    };
    let whole = run(&mut Directory::new(folder.path().join("whole")), usize::MAX);
    assert!(whole.history[0].failed > 0 && whole.history[0].failure.is_some());
    for cut in [1, 77, 199, 200, 201, 399] {
        let path = folder.path().join(cut.to_string());
        let first = run(&mut Directory::new(&path), cut);
        // What was finished or under way when the stop came is kept too, and a generation that is complete is committed.
        let made = 200 * first.history.len() + first.simulations;
        assert!((cut..=cut + 8).contains(&made), "{made} simulations after a cut at {cut}");
        assert!(
            first.reason == StopReason::Interrupt || made == 400,
            "{:?} after a cut at {cut}",
            first.reason
        );
        let second = run(&mut Directory::new(&path), usize::MAX);
        assert_eq!(second.history, whole.history, "cut after {cut}");
        let again = Directory::new(&path).open(&header(1)).unwrap();
        assert_eq!(again, whole.history, "read back after a cut at {cut}");
    }
}

#[test]
fn failures_are_forgotten_where_they_ended_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Directory::new(folder.path());
    store.open(&header(1)).unwrap();
    store.chunks(0, 200, &mut |_| panic!("nothing is there")).unwrap();
    let rows: Vec<usize> = (0..4).collect();
    let outcomes = vec![Ok(()), Err(Failure::Crashed("x".into())), Ok(()), Err(Failure::Crashed("y".into()))];
    let summaries = counterpoise_core::table::Table::from_rows(1, vec![0.5, f64::NAN, 1.5, f64::NAN]);
    store.append(counterpoise_core::simulate::Chunk { rows, summaries, outcomes }).unwrap();
    store.forget_failures().unwrap();
    let mut left = Vec::new();
    store.chunks(0, 200, &mut |chunk| left.extend(chunk.rows.clone())).unwrap();
    assert_eq!(left, [0, 2]);
}
