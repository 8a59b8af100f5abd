//! The guide as a website: `docs/` built by mdBook into a folder, and every link of every page followed.
//!
//! ```text
//! cargo run --manifest-path guide/Cargo.toml -- target/book
//! ```

mod links;
mod outside;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mdbook_driver::MDBook;
use mdbook_driver::errors::Result;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let into = std::env::args_os().nth(1).map_or_else(|| root.join("target/book"), PathBuf::from);
    match build(&root, &into) {
        Ok((pages, links, faults)) if faults.is_empty() => {
            println!("{}: {pages} pages, {links} links", into.join("index.html").display());
            ExitCode::SUCCESS
        }
        Ok((_, _, faults)) => {
            for fault in &faults {
                eprintln!("error: {fault}");
            }
            eprintln!("{} links of the guide lead nowhere", faults.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the book; how many pages and links there are, and what is wrong with them.
fn build(root: &Path, into: &Path) -> Result<(usize, usize, Vec<String>)> {
    let docs = root.join("docs");
    let mut book = MDBook::load(&docs)?;
    book.config.build.build_dir = std::path::absolute(into)?;
    let mut wanted = Vec::new();
    let mut faults = outside::unlisted(&docs, &book.book)?;
    book.book.for_each_chapter_mut(|chapter| {
        chapter.content = outside::moved(&chapter.content, &mut wanted);
    });
    book.build()?;
    faults.extend(outside::copy(root, into, &wanted)?);
    let checked = links::check(into)?;
    faults.extend(checked.faults);
    Ok((checked.pages, checked.links, faults))
}
