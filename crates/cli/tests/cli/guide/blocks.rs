//! Pages as their blocks of code, each with the remarks above it that say what a test does with it.

use std::fs;
use std::path::{Path, PathBuf};

/// A block of code of a page.
pub(super) struct Block {
    pub(super) page: String,
    /// Where it begins, from one.
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) text: String,
    /// `<!-- key: value -->` on the lines above it.
    remarks: Vec<(String, String)>,
}

/// Remarks that tests know.
const REMARKS: [&str; 8] = ["not run", "file", "folder", "exits", "needs", "same as", "whole", "printed"];

impl Block {
    /// What a remark says; empty where it says no more than its name.
    pub(super) fn remark(&self, key: &str) -> Option<&str> {
        self.remarks.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    pub(super) fn place(&self) -> String {
        format!("docs/{}:{}", self.page, self.line)
    }
}

/// The repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of all pages of the guide.
pub(super) fn pages() -> Vec<String> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    names
}

/// The blocks of a page, in order.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    read(page, &text)
}

/// The same from the text of a page.
pub(super) fn read(page: &str, text: &str) -> Vec<Block> {
    let (mut blocks, mut remarks) = (Vec::new(), Vec::new());
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let place = || format!("docs/{page}:{}", at + 1);
        let indent = line.len() - line.trim_start().len();
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let inside: Vec<&str> = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| line.trim() != "```")
                .map(|line| line.get(indent..).unwrap_or_default())
                .collect();
            blocks.push(Block {
                page: page.to_owned(),
                line: at + 1,
                language: language.trim().to_owned(),
                text: inside.join("\n") + "\n",
                remarks: std::mem::take(&mut remarks),
            });
        } else if let Some(remark) =
            line.trim().strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"))
        {
            let (key, value) = remark.split_once(": ").unwrap_or((remark, ""));
            if REMARKS.contains(&key) {
                remarks.push((key.to_owned(), value.to_owned()));
            }
        } else {
            assert!(
                !line.starts_with("    ") || !line.contains("counterpoise "),
                "{}: a command in an indented block is not seen: put it between ```sh and ```",
                place()
            );
            assert!(remarks.is_empty(), "{}: a remark belongs above a block", place());
        }
    }
    assert!(remarks.is_empty(), "docs/{page}: a remark at its end");
    blocks
}

/// Copies the files of a folder of the repository that are not there yet.
pub(super) fn lend(folder: &str, here: &Path) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let from = entry.unwrap().path();
        let to = here.join(from.file_name().unwrap());
        if from.is_file() && !to.exists() {
            fs::copy(&from, &to).unwrap();
        }
    }
}

#[test]
fn a_page_is_read_with_its_remarks() {
    let text = "a\n<!-- file: x.toml -->\n<!-- whole -->\n```toml\nb = 1\n\nc = 2\n```\n- d\n\n  ```sh\n  e\n  ```\n";
    let blocks = read("p.md", text);
    assert_eq!(blocks.len(), 2);
    assert_eq!((blocks[0].line, &*blocks[0].language, &*blocks[0].text), (4, "toml", "b = 1\n\nc = 2\n"));
    assert_eq!((blocks[0].remark("file"), blocks[0].remark("whole")), (Some("x.toml"), Some("")));
    assert_eq!((&*blocks[1].language, &*blocks[1].text), ("sh", "e\n"));
    assert_eq!(blocks[1].remark("file"), None);
}
