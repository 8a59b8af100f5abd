//! Links of built pages: each leads to a file of the book, and to a place in it where it names one. Nothing is asked of a network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use mdbook_driver::errors::Result;

/// What was found in a built book.
pub struct Checked {
    pub pages: usize,
    pub links: usize,
    pub faults: Vec<String>,
}

/// Pages that repeat others, with links as they stand there.
const REPEATS: [&str; 3] = ["print.html", "404.html", "toc.html"];

/// Looks at every page of the book in `folder`.
pub fn check(folder: &Path) -> Result<Checked> {
    let mut files = BTreeMap::new();
    collect(folder, Path::new(""), &mut files)?;
    let mut checked = Checked { pages: 0, links: 0, faults: Vec::new() };
    for (name, text) in &files {
        let Some(text) = text else { continue };
        checked
            .faults
            .extend(asked(text).map(|address| format!("{}: the page loads {address}", name.display())));
        let is_repeat = REPEATS.iter().any(|repeat| name == Path::new(repeat));
        if name.extension().is_none_or(|extension| extension != "html") || is_repeat {
            continue;
        }
        checked.pages += 1;
        for link in values(text, "href").chain(values(text, "src")) {
            checked.links += 1;
            let fault = follow(name, &unescaped(link), &files);
            checked.faults.extend(fault.map(|fault| format!("{}: {fault}", name.display())));
        }
    }
    Ok(checked)
}

/// All files below a folder; pages and styles with their text.
fn collect(root: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Option<String>>) -> Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(root, &name, files)?;
            continue;
        }
        let is_text = name.extension().is_some_and(|extension| extension == "html" || extension == "css");
        files.insert(name, if is_text { Some(fs::read_to_string(entry.path())?) } else { None });
    }
    Ok(())
}

/// Values of an attribute, as mdBook and our pages write it: in double quotes.
fn values<'a>(text: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let begin = format!(" {attribute}=\"");
    let length = begin.len();
    let places: Vec<usize> = text.match_indices(&begin).map(|(at, _)| at + length).collect();
    places.into_iter().filter_map(|at| text[at..].split('"').next())
}

fn unescaped(link: &str) -> String {
    let plain = link.replace("&amp;", "&");
    // Letters and blanks only: that is all that names of our files and headings have.
    plain.replace("%20", " ").replace("%25", "%").replace("%2C", ",")
}

/// Addresses from which a page or a style takes something when it is opened.
fn asked(text: &str) -> impl Iterator<Item = &str> {
    let loaded = values(text, "src").filter(|address| is_remote(address));
    let styles = text.split("<link ").skip(1).filter_map(|tag| values(tag.split('>').next()?, "href").next());
    let urls = text.split("url(").skip(1).filter_map(|rest| rest.split(')').next());
    let urls = urls.map(|address| address.trim_matches(['"', '\'']));
    loaded.chain(styles.filter(|address| is_remote(address))).chain(urls.filter(|address| is_remote(address)))
}

fn is_remote(address: &str) -> bool {
    address.starts_with("http:") || address.starts_with("https:") || address.starts_with("//")
}

/// Why a link of a page leads nowhere, if it does.
fn follow(page: &Path, link: &str, files: &BTreeMap<PathBuf, Option<String>>) -> Option<String> {
    if is_remote(link)
        || link.starts_with("data:")
        || link.starts_with("mailto:")
        || link.starts_with("javascript:")
    {
        return None;
    }
    let (path, place) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => page.to_path_buf(),
        _ => resolved(page.parent().unwrap_or(Path::new("")), path)?,
    };
    let Some(text) = files.get(&target) else {
        return Some(format!("`{link}` leads to {}, which is not in the book", target.display()));
    };
    let Some(text) = text else { return None };
    let is_there = place.is_empty() || values(text, "id").collect::<BTreeSet<_>>().contains(place);
    (!is_there).then(|| format!("`{link}`: {} has no heading or place `{place}`", target.display()))
}

/// A relative path from a folder of the book; a folder is its index. One that leaves the book stays as it is written, and is not found.
fn resolved(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::Normal(part) => whole.push(part),
            Component::ParentDir if !whole.pop() => return Some(PathBuf::from(path)),
            _ => {}
        }
    }
    Some(if whole.extension().is_none() { whole.join("index.html") } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> BTreeMap<PathBuf, Option<String>> {
        let page = |text: &str| Some(text.to_owned());
        [("a.html", page("<h2 id=\"one\">")), ("b/index.html", page("<p>")), ("picture.svg", None)]
            .into_iter()
            .map(|(name, text)| (PathBuf::from(name), text))
            .collect()
    }

    #[test]
    fn links_lead_somewhere_or_are_named() {
        let files = book();
        let from = |link: &str| follow(Path::new("b/index.html"), link, &files);
        for good in ["../a.html", "../a.html#one", "../picture.svg", "#", "https://example.org", "index.html"]
        {
            assert_eq!(from(good), None, "{good}");
        }
        for bad in ["a.html", "../a.html#two", "../../a.html", "#one", "../nothing.png"] {
            assert!(from(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn what_a_page_would_load_is_seen() {
        let text = "<a href=\"https://a\"> <img src=\"https://b\"> <link rel=\"x\" href=\"//c\"> url('http://d') url(e.woff)";
        assert_eq!(asked(text).collect::<Vec<_>>(), ["https://b", "//c", "http://d"]);
    }
}
