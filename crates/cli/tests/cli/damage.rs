//! Damaged directories: found by `verify`, refused by `run`, mended by `--salvage`, with the same result in the end.

use std::fs;
use std::path::{Path, PathBuf};

use super::resume::copy;
use super::{Bench, TOY};

/// A finished run of three generations, and one that was stopped within the third.
fn runs() -> Bench {
    let bench = Bench::new(TOY);
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

/// A byte changed anywhere in any file: `verify` names the file, `--salvage` and `run` end with the same result.
#[test]
fn a_changed_byte_is_named_and_mended() {
    let bench = runs();
    let mut tried = 0;
    for run in ["whole", "cut"] {
        assert_eq!(files(&bench, run).len(), if run == "whole" { 11 } else { 9 });
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
                bench.run(&["verify", &copied, "--salvage"]).exits(0);
                bench.run(&["verify", &copied]).exits(0);
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
        again(&bench, &copied).exits(0);
        assert!(same_result(&bench, &copied), "{name}");
    }
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
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let verified = bench.run(&["verify", "cut"]).exits(0).stdout;
    assert!(verified.contains("note: generations/002/journal ends in half a record"), "{verified}");
    again(&bench, "cut").exits(0).says("generations/002/journal ended in half a record");
    assert!(same_result(&bench, "cut"));
}

#[test]
fn a_newer_format_says_so() {
    let bench = runs();
    let text = fs::read_to_string(bench.path("whole/run.json")).unwrap();
    let newer = text.replace("\"format\": 2", "\"format\": 3");
    // A newer version would seal it in its own way.
    let newer = format!("{}\n}}\n", newer.rsplit_once(",\n  \"checksum\"").unwrap().0);
    bench.write("whole/run.json", newer);
    for command in [&["show", "whole"][..], &["verify", "whole"], &["export", "whole", "--to", "x.csv"]] {
        bench
            .run(command)
            .exits(2)
            .says("has format 3; this version reads formats 1 to 2")
            .says("a newer version");
    }
    again(&bench, "whole").exits(2).says("has format 3");
    bench.run(&["verify", "whole", "--salvage"]).exits(2).says("has format 3");
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
