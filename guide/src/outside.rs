//! What the guide says about the repository around it: links to files outside of `docs/`, which the built book carries with it.

use std::fs;
use std::path::Path;

use mdbook_driver::book::Book;
use mdbook_driver::errors::Result;

/// Where the book keeps files from outside.
const FOLDER: &str = "repository";

/// The text of a page with its links `](../PATH)` turned to copies inside the book; the paths are added to `wanted`.
pub fn moved(text: &str, wanted: &mut Vec<String>) -> String {
    let mut pieces = text.split("](../");
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (path, rest) = piece.split_once(')').unwrap_or((piece, ""));
        wanted.push(path.to_owned());
        whole += &format!("]({FOLDER}/{}){rest}", copied(path));
    }
    whole
}

/// The file that a link leads to: of a folder, its page.
fn meant(path: &str) -> String {
    let path = path.trim_end_matches('/');
    match path.rsplit('/').next() {
        Some(name) if !name.contains('.') => format!("{path}/README.md"),
        _ => path.to_owned(),
    }
}

/// The name of a copy: browsers show text, and mdBook would turn a link to `.md` into one to `.html`.
fn copied(path: &str) -> String {
    let path = meant(path);
    path.strip_suffix(".md").map_or(path.clone(), |stem| format!("{stem}.txt"))
}

/// Copies the files that links lead to; what is wrong with those that do not exist.
pub fn copy(root: &Path, into: &Path, wanted: &[String]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for path in wanted {
        let (from, to) = (root.join(meant(path)), into.join(FOLDER).join(copied(path)));
        if !from.is_file() {
            faults.push(format!("a page links to ../{path}, and there is no {}", meant(path)));
            continue;
        }
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(from, to)?;
    }
    Ok(faults)
}

/// Pages that `SUMMARY.md` does not lead to.
pub fn unlisted(docs: &Path, book: &Book) -> Result<Vec<String>> {
    let listed: Vec<_> = book.chapters().filter_map(|chapter| chapter.path.clone()).collect();
    let mut faults = Vec::new();
    for entry in fs::read_dir(docs)? {
        let name = entry?.file_name();
        let page = Path::new(&name);
        let is_page = page.extension().is_some_and(|extension| extension == "md") && name != "SUMMARY.md";
        if is_page && !listed.iter().any(|known| known == page) {
            faults.push(format!("docs/{} is not in docs/SUMMARY.md", page.display()));
        }
    }
    faults.sort();
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_the_outside_are_moved_in() {
        let mut wanted = Vec::new();
        let text = "[a](b.md), [c](../examples/sir), [d](../bench/README.md) and ![e](../x/y.svg).";
        let moved = moved(text, &mut wanted);
        assert_eq!(
            moved,
            "[a](b.md), [c](repository/examples/sir/README.txt), [d](repository/bench/README.txt) and \
             ![e](repository/x/y.svg)."
        );
        assert_eq!(wanted, ["examples/sir", "bench/README.md", "x/y.svg"]);
    }
}
