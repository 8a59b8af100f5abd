//! Tells the program the commit it is built from, where that is known.
//!
//! Known it is where the packager says so in `COUNTERPOISE_COMMIT`, or else in a release build from a checkout: this source at
//! the top of a git repository of its own. Elsewhere (an unpacked archive, one without git) the version stands alone. Debug
//! builds do not ask, so that a commit does not compile everything again.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=COUNTERPOISE_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let given = std::env::var("COUNTERPOISE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = given.or_else(|| if release { checkout() } else { None });
    let long = commit.map_or(version.clone(), |commit| format!("{version} (commit {commit})"));
    println!("cargo:rustc-env=COUNTERPOISE_VERSION={long}");
}

/// The commit of the repository whose top is the workspace, and whether what is compiled differs from it.
fn checkout() -> Option<String> {
    let top = Path::new("../..").canonicalize().ok()?;
    // A copy inside of somebody else's repository is not at its commit.
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != top {
        println!("cargo:rerun-if-changed=build.rs");
        return None;
    }
    for path in [git(&["rev-parse", "--git-path", "HEAD"])?, git(&["rev-parse", "--git-path", "logs/HEAD"])?]
    {
        println!("cargo:rerun-if-changed={path}");
    }
    let compiled = ["../../crates", "../../Cargo.toml", "../../Cargo.lock"];
    for path in compiled {
        println!("cargo:rerun-if-changed={path}");
    }
    let commit: String = git(&["rev-parse", "HEAD"])?.chars().take(12).collect();
    let clean = git(&[&["status", "--porcelain", "--"][..], &compiled[..]].concat())?.is_empty();
    Some(if clean { commit } else { format!("{commit}, changed") })
}

/// What git prints, or none where it fails or is not there.
fn git(arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").args(arguments).output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8(done.stdout).ok()?.trim_end().to_owned())
}
