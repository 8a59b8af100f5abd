//! Damaged directories: found by `verify`, refused by `run`, mended by `--salvage`, with the same result in the end.

use std::fs;
use std::path::{Path, PathBuf};

use super::resume::copy;
use super::{Bench, TOY};

/// A finished run of three generations, and one that was stopped within the third. With a rule and an adjustment that leave the
/// same files as `auto`, and are quick.
fn runs() -> Bench {
    let bench = Bench::new(&format!("{TOY}weighting = \"hellinger\"\nadjust = \"linear\"\n"));
    bench.run(&["run", "p.toml", "--into", "whole", "--set", "method.generations=3"]).exits(0);
    let cut = ["--set", "method.generations=3", "--set", "stop.simulations=1000", "--chunk", "10"];
    bench.run(&[&["run", "p.toml", "--into", "cut"], &cut[..]].concat()).exits(3);
    bench
}

/// The files of a run, relative to its directory.
fn files(bench: &Bench, run: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![bench.path(run)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    let mut found: Vec<_> =
        found.iter().map(|path| path.strip_prefix(bench.path(run)).unwrap().to_path_buf()).collect();
    found.retain(|path| path != Path::new("lock") && !path.starts_with("damaged"));
    found.sort();
    found
}

fn again(bench: &Bench, run: &str) -> super::Done {
    bench.run(&["run", "p.toml", "--into", run, "--set", "method.generations=3"])
}

fn same_result(bench: &Bench, run: &str) -> bool {
    files(bench, "whole").iter().filter(|file| !file.ends_with("run.json")).all(|file| {
        fs::read(bench.path(run).join(file)).unwrap() == fs::read(bench.path("whole").join(file)).unwrap()
    })
}

/// Generations, and simulations in all, of a run that is whole.
fn kept(bench: &Bench, run: &str) -> (u64, u64) {
    let json = bench.run(&["verify", run, "--json"]).exits(0).json();
    let number = |key: &str| json[key].as_u64().unwrap();
    (number("generations"), number("simulations") + number("waiting"))
}

/// What must be left of a run of `all` after damage to a file; bytes where it is known.
fn must_keep(file: &Path, all: (u64, u64), at: Option<usize>) -> (u64, std::ops::RangeInclusive<u64>) {
    let generation = file.iter().nth(1).and_then(|name| name.to_str()?.parse::<u64>().ok());
    match (file.file_name().unwrap().to_str().unwrap(), generation) {
        // The one group of the file.
        ("simulations.parquet", Some(index)) => (index, all.1 - 400..=all.1 - 400),
        // A record of ten or so; none for the header.
        ("journal", _) if at.is_some_and(|at| at >= 48) => (all.0, all.1 - 20..=all.1 - 1),
        ("population.parquet" | "adjusted.parquet" | "generation.json" | "checksums.json", Some(index)) => {
            (index, all.1..=all.1)
        }
        _ => (all.0, all.1..=all.1),
    }
}

/// A byte changed anywhere in any file: `verify` names the file, `--salvage` and `run` end with the same result.
#[test]
fn a_changed_byte_is_named_and_mended() {
    let bench = runs();
    let mut tried = 0;
    for run in ["whole", "cut"] {
        assert_eq!(files(&bench, run).len(), if run == "whole" { 17 } else { 13 });
        let all = kept(&bench, run);
        assert_eq!(all, if run == "whole" { (3, 1200) } else { (2, 1000) });
        for file in files(&bench, run) {
            let bytes = fs::read(bench.path(run).join(&file)).unwrap();
            let offsets = [0, bytes.len() / 7, bytes.len() / 2, bytes.len() - 9, bytes.len() - 1];
            for (number, at) in offsets.into_iter().enumerate() {
                tried += 1;
                let copied = format!("c{tried}");
                copy(&bench.path(run), &bench.path(&copied));
                let mut changed = bytes.clone();
                changed[at] ^= 1 << number;
                fs::write(bench.path(&copied).join(&file), &changed).unwrap();
                let name = file.display().to_string();
                let found = bench.run(&["verify", &copied]);
                assert_eq!(found.code, 1, "{name}, byte {at}: {}{}", found.stdout, found.stderr);
                assert!(
                    found.stdout.contains(&format!("damaged: {name}")),
                    "{name}, byte {at}: {}",
                    found.stdout
                );
                found.says("--salvage keeps what is whole");
                let done = bench.run(&["verify", &copied, "--salvage"]).exits(0).stdout;
                let (left, expected) = (kept(&bench, &copied), must_keep(&file, all, Some(at)));
                let is_kept = left.0 == expected.0 && expected.1.contains(&left.1);
                assert!(is_kept, "{name}, byte {at}: {left:?} instead of {expected:?}: {done}");
                again(&bench, &copied).exits(0);
                assert!(same_result(&bench, &copied), "{name}, byte {at}");
                bench.run(&["verify", &copied]).exits(0);
                fs::remove_dir_all(bench.path(&copied)).unwrap();
            }
        }
    }
}

/// A file cut short or removed: named, and mended.
#[test]
fn a_missing_end_is_named_and_mended() {
    let bench = runs();
    for (number, file) in files(&bench, "whole").into_iter().enumerate() {
        let copied = format!("c{number}");
        copy(&bench.path("whole"), &bench.path(&copied));
        let path = bench.path(&copied).join(&file);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let name = file.display().to_string();
        assert!(bench.run(&["verify", &copied]).exits(1).stdout.contains(&name), "{name}");
        fs::remove_file(&path).unwrap();
        assert!(bench.run(&["verify", &copied]).exits(1).stdout.contains(&name), "{name}");
        bench.run(&["verify", &copied, "--salvage"]).exits(0);
        let (left, expected) = (kept(&bench, &copied), must_keep(&file, (3, 1200), None));
        assert!(left.0 == expected.0 && expected.1.contains(&left.1), "{name}: {left:?}");
        again(&bench, &copied).exits(0);
        assert!(same_result(&bench, &copied), "{name}");
    }
}

/// A generation of two groups of rows: a changed byte costs the group that it is in.
#[test]
fn a_changed_byte_costs_one_group() {
    let bench = Bench::new(&TOY.replace("simulations = 400", "simulations = 20000"));
    bench.run(&["run", "p.toml", "--into", "r", "--set", "method.generations=1"]).exits(0);
    let name = "generations/000/simulations.parquet";
    let bytes = fs::read(bench.path("r").join(name)).unwrap();
    let end = bytes.len();
    let footer = end - 8 - u32::from_le_bytes(bytes[end - 8..end - 4].try_into().unwrap()) as usize;
    // 10,000 rows each; close before the end of the last, and in what says where everything is.
    let places = [(end / 5, 10_000), (3 * end / 5, 10_000), (9 * end / 10, 10_000)];
    let ends = [(footer - 4_000, 10_000), (footer + 50, 0)];
    for (at, left) in places.into_iter().chain(ends) {
        copy(&bench.path("r"), &bench.path("c"));
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(bench.path("c").join(name), &changed).unwrap();
        let done = bench.run(&["verify", "c", "--salvage"]).exits(0).stdout;
        assert!(done.contains(&format!("taken back: {left} of 20000 simulations are kept")), "{at}: {done}");
        assert_eq!(kept(&bench, "c"), (0, left), "byte {at} of {end}");
        fs::remove_dir_all(bench.path("c")).unwrap();
    }
}

/// What was not damaged stays: the posterior to the bit, and the summary.
#[test]
fn a_sound_posterior_and_the_summary_stay() {
    let bench = runs();
    for file in ["generations/002/journal", "posterior.parquet"] {
        copy(&bench.path("cut"), &bench.path("r"));
        let mut bytes = fs::read(bench.path("r").join(file)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(bench.path("r").join(file), &bytes).unwrap();
        bench.run(&["verify", "r", "--salvage"]).exits(0);
        let name = "posterior.parquet";
        assert!(
            fs::read(bench.path("r").join(name)).unwrap() == fs::read(bench.path("cut").join(name)).unwrap()
        );
        let shown = bench.run(&["show", "r", "--json"]).exits(0).json();
        assert_eq!(shown["generations"], 2, "{file}");
        assert_eq!(shown["simulations"].as_u64(), Some(kept(&bench, "r").1), "{file}");
        fs::remove_dir_all(bench.path("r")).unwrap();
    }
}

#[test]
fn the_journal_of_another_run_is_set_aside() {
    let bench = runs();
    let other = ["run", "p.toml", "--into", "other", "--set", "method.seed=8"];
    let limits = ["--set", "method.generations=3", "--set", "stop.simulations=1000"];
    bench.run(&[&other[..], &limits].concat()).exits(3);
    let journal = "generations/002/journal";
    fs::copy(bench.path("other").join(journal), bench.path("cut").join(journal)).unwrap();
    let found = bench.run(&["verify", "cut"]).exits(1).stdout;
    assert!(found.contains("it belongs to another run or generation"), "{found}");
    let done = bench.run(&["verify", "cut", "--salvage"]).exits(0).stdout;
    assert!(done.contains("cut/damaged/generations-002-journal"), "{done}");
    assert_eq!(kept(&bench, "cut"), (2, 800));
    again(&bench, "cut").exits(0);
    assert!(same_result(&bench, "cut"));
}

/// A journal that is gone, or whose last records are: `run.json` knows of them.
#[test]
fn simulations_that_are_gone_are_missed() {
    let bench = runs();
    let path = bench.path("cut/generations/002/journal");
    let bytes = fs::read(&path).unwrap();
    // Where the second record begins.
    let record = 48 + 16 + u32::from_le_bytes(bytes[52..56].try_into().unwrap()) as usize + 8;
    for left in [None, Some(record), Some(bytes.len() - 5)] {
        match left {
            None => fs::remove_file(&path).unwrap(),
            Some(left) => fs::write(&path, &bytes[..left]).unwrap(),
        }
        let found = bench.run(&["verify", "cut"]).exits(1).stdout;
        let expected = "damaged: generations/002/journal: run.json tells of 1000 simulations, and ";
        assert!(found.contains(expected), "{left:?}: {found}");
        copy(&bench.path("cut"), &bench.path("r"));
        bench.run(&["verify", "r", "--salvage"]).exits(0);
        bench.run(&["verify", "r"]).exits(0);
        again(&bench, "r").exits(0);
        assert!(same_result(&bench, "r"), "{left:?}");
        fs::remove_dir_all(bench.path("r")).unwrap();
    }
}

/// Killed while it committed: the journal has everything, and the message says so.
#[test]
fn an_unfinished_commit_keeps_its_journal() {
    let bench = runs();
    for file in ["simulations.parquet", "population.parquet"] {
        let name = format!("generations/002/{file}");
        fs::copy(bench.path("whole").join(&name), bench.path("cut").join(&name)).unwrap();
    }
    bench.run(&["verify", "cut"]).exits(0);
    bench.write("cut/posterior.parquet", "");
    let done = bench.run(&["verify", "cut", "--salvage"]).exits(0).stdout;
    assert!(done.contains("the commit of generation 2 was not finished: its journal is kept"), "{done}");
    assert!(!done.contains("taken back"), "{done}");
    assert_eq!(kept(&bench, "cut"), (2, 1000));
    again(&bench, "cut").exits(0);
    assert!(same_result(&bench, "cut"));
}

/// Whoever lost `run.json` and gives another problem is told so, and the directory stays what it was.
#[test]
fn a_directory_without_a_record_is_not_claimed_by_another_problem() {
    let bench = runs();
    fs::remove_file(bench.path("cut/run.json")).unwrap();
    for salvaged in [false, true] {
        if salvaged {
            bench.run(&["verify", "cut", "--salvage"]).exits(0);
        }
        let other = bench.run(&["run", "p.toml", "--into", "cut", "--set", "method.seed=8"]).exits(2);
        other.says("cut holds another run: generations/000/generation.json was made by another problem");
    }
    again(&bench, "cut").exits(0).says("generation 2 goes on after 200 of 400 simulations");
    assert!(same_result(&bench, "cut"));
}

/// A pipe in the place of a file: nobody waits for somebody to write into it.
#[cfg(unix)]
#[test]
fn pipes_are_no_files() {
    let bench = runs();
    let patient = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_counterpoise"));
        let command = command.current_dir(bench.folder.path()).args(arguments);
        let done = command.timeout(std::time::Duration::from_secs(60)).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    for (number, file) in files(&bench, "cut").into_iter().enumerate() {
        let copied = format!("c{number}");
        copy(&bench.path("cut"), &bench.path(&copied));
        let path = bench.path(&copied).join(&file);
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let run = patient(&["run", "p.toml", "--into", &copied, "--set", "method.generations=3"]);
        assert!(matches!(run.0, Some(1 | 2)), "{file:?}: {run:?}");
        let found = patient(&["verify", &copied]);
        let expected = format!("damaged: {}: it is not a regular file", file.display());
        assert!(found.0 == Some(1) && found.1.contains(&expected), "{file:?}: {found:?}");
        assert_eq!(patient(&["verify", &copied, "--salvage"]).0, Some(0), "{file:?}");
        again(&bench, &copied).exits(0);
        assert!(same_result(&bench, &copied), "{file:?}");
    }
    fs::remove_file(bench.path("cut/lock")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(bench.path("cut/lock")).status().unwrap().success());
    assert_eq!(patient(&["run", "p.toml", "--into", "cut", "--set", "method.generations=3"]).0, Some(2));
    assert_eq!(patient(&["verify", "cut"]).0, Some(0));
}

#[test]
fn a_run_refuses_damage_and_says_what_to_do() {
    let bench = runs();
    let path = bench.path("cut/generations/002/journal");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let refused = again(&bench, "cut").exits(1).says("cut/generations/002/journal is damaged at byte ");
    refused.says("hint: counterpoise verify cut --salvage keeps what is whole");
    let salvaged = bench.run(&["verify", "cut", "--salvage"]).exits(0).stdout;
    assert!(salvaged.contains("simulations are kept; the whole file is in cut/damaged/"), "{salvaged}");
    let json = bench.run(&["verify", "cut", "--json"]).exits(0).json();
    assert_eq!((&json["intact"], &json["generations"]), (&true.into(), &2.into()));
    let waiting = json["waiting"].as_u64().unwrap();
    assert!((180..=192).contains(&waiting), "one record of ten is lost: {waiting}");
    let done = again(&bench, "cut").exits(0);
    done.says(&format!("generation 2 goes on after {waiting} of 400 simulations"));
    assert!(same_result(&bench, "cut"));
}

/// Generation 0 is damaged: its own simulations are lost, those of the others are not.
#[test]
fn later_generations_keep_their_simulations() {
    let bench = runs();
    fs::write(bench.path("whole/generations/000/population.parquet"), "").unwrap();
    copy(&bench.path("whole"), &bench.path("r"));
    fs::write(bench.path("r/generations/000/simulations.parquet"), "").unwrap();
    let done = bench.run(&["verify", "r", "--salvage"]).exits(0).stdout;
    for line in ["generation 0 is taken back: 0 of 400", "generation 1 is taken back: 400 of 400"] {
        assert!(done.contains(line), "{line}: {done}");
    }
    again(&bench, "r")
        .exits(0)
        .says("generation 1 goes on after 400 of 400")
        .says("generation 2 goes on after 400");
    // Only the population was damaged: nothing is simulated again.
    bench.run(&["verify", "whole", "--salvage"]).exits(0);
    again(&bench, "whole").exits(0).says("generation 0 goes on after 400 of 400 simulations");
    assert!(same_result(&bench, "r"));
}

#[test]
fn a_torn_journal_needs_no_repair() {
    let bench = runs();
    let path = bench.path("cut/generations/002/journal");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(&bytes[48..60].to_vec());
    fs::write(&path, &bytes).unwrap();
    let verified = bench.run(&["verify", "cut"]).exits(0).stdout;
    assert!(verified.contains("note: generations/002/journal ends in half a record"), "{verified}");
    again(&bench, "cut").exits(0).says("generations/002/journal ended in half a record");
    assert!(same_result(&bench, "cut"));
}

#[test]
fn a_newer_format_says_so() {
    let bench = runs();
    let text = fs::read_to_string(bench.path("whole/run.json")).unwrap();
    let newer = text.replace("\"format\": 3", "\"format\": 4");
    // A newer version would seal it in its own way.
    let newer = format!("{}\n}}\n", newer.rsplit_once(",\n  \"checksum\"").unwrap().0);
    bench.write("whole/run.json", newer);
    for command in [&["show", "whole"][..], &["verify", "whole"], &["export", "whole", "--to", "x.csv"]] {
        bench
            .run(command)
            .exits(2)
            .says("has format 4; this version reads formats 1 to 3")
            .says("a newer version");
    }
    again(&bench, "whole").exits(2).says("has format 4");
    bench.run(&["verify", "whole", "--salvage"]).exits(2).says("has format 4");
}

/// Links inside the directory are not written or deleted through.
#[cfg(unix)]
#[test]
fn links_out_of_the_directory_are_refused() {
    use std::os::unix::fs::symlink;
    let bench = runs();
    fs::create_dir(bench.path("outside")).unwrap();
    bench.write("outside/journal", "precious");
    for (link, target) in [
        ("generations", "outside"),
        ("generations/002", "outside"),
        ("generations/002/journal", "outside/journal"),
        ("posterior.parquet", "outside/journal"),
        ("run.json", "outside/run.json"),
        ("lock", "outside/journal"),
    ] {
        fs::remove_dir_all(bench.path("r")).ok();
        copy(&bench.path("cut"), &bench.path("r"));
        let path = bench.path("r").join(link);
        if link == "run.json" {
            fs::copy(&path, bench.path("outside/run.json")).unwrap();
        }
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        symlink(bench.path(target), &path).unwrap();
        let before = fs::read(bench.path("outside/run.json")).ok();
        let refused = again(&bench, "r");
        assert_eq!(refused.code, 2, "{link}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(&format!("r/{link} is a symbolic link")),
            "{link}: {}",
            refused.stderr
        );
        if link != "lock" && link != "generations" {
            let verified = bench.run(&["verify", "r"]).exits(1).stdout;
            assert!(
                verified.contains("is a symbolic link") || verified.contains("damaged: "),
                "{link}: {verified}"
            );
        }
        assert_eq!(fs::read(bench.path("outside/journal")).unwrap(), b"precious", "{link}");
        assert_eq!(fs::read(bench.path("outside/run.json")).ok(), before, "{link}");
        assert!(fs::read_dir(bench.path("outside")).unwrap().count() <= 2, "{link}");
    }
    // What a partial file points at is left alone, and the name is used.
    fs::remove_dir_all(bench.path("r")).unwrap();
    copy(&bench.path("cut"), &bench.path("r"));
    symlink(bench.path("outside/journal"), bench.path("r/run.partial")).unwrap();
    again(&bench, "r").exits(0);
    assert_eq!(fs::read(bench.path("outside/journal")).unwrap(), b"precious");
    assert!(same_result(&bench, "r"));
}
