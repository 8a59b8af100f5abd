//! Every error that a user can cause, with its exact text: `tests/errors/*.txt`.
//!
//! A file begins with a problem, `base` to `---`. A case is a title `# ...`, what is done before (`edit A => B` of the problem,
//! `file NAME TEXT`, `do COMMAND`, ...), the command `$ ...` (`check p.toml` unless given), the exit code, and what the program
//! says: `|` on the standard error, `>` on the standard output. `COUNTERPOISE_WRITE_ERRORS=1 cargo test -p counterpoise-cli errors`
//! writes the last two anew, to be read in the diff.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::{Bench, Done};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors")
}

/// One file of cases.
struct Catalogue {
    base: String,
    cases: Vec<Case>,
}

struct Case {
    /// The title and what is done.
    steps: Vec<String>,
    /// The exit code and what is said.
    answer: String,
}

impl Catalogue {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (base, rest) = text.strip_prefix("base\n").and_then(|text| text.split_once("---\n")).unwrap();
        let mut cases: Vec<Case> = Vec::new();
        for line in rest.lines().filter(|line| !line.is_empty()) {
            if line.starts_with("# ") {
                cases.push(Case { steps: Vec::new(), answer: String::new() });
            }
            let case = cases.last_mut().expect("a case begins with a title");
            let is_answer = ["exit ", "|", ">"].iter().any(|begin| line.starts_with(begin));
            if is_answer { case.answer += &format!("{line}\n") } else { case.steps.push(line.to_owned()) }
        }
        Self { base: base.to_owned(), cases }
    }

    fn text(&self) -> String {
        let mut text = format!("base\n{}---\n", self.base);
        for case in &self.cases {
            write!(text, "\n{}\n{}", case.steps.join("\n"), case.answer).unwrap();
        }
        text
    }
}

impl Case {
    fn title(&self) -> &str {
        self.steps[0].trim_start_matches("# ")
    }

    /// Does what is to be done and says what the program answered.
    fn run(&self, base: &str) -> String {
        let (bench, mut problem, mut command) = (Bench::new(""), base.to_owned(), "check p.toml");
        for step in &self.steps[1..] {
            let (verb, rest) = step.split_once(' ').unwrap();
            let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let path = bench.path(name);
            let write = |bytes: Vec<u8>| {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, bytes).unwrap();
            };
            match verb {
                "edit" => {
                    let (old, new) = rest.split_once(" =>").unwrap();
                    let old = String::from_utf8(plain(old)).unwrap();
                    assert!(problem.contains(&old), "{}: `{old}` is not in the problem", self.title());
                    problem = problem.replace(&old, new.strip_prefix(' ').unwrap_or(new));
                }
                "file" => write(plain(text)),
                "repeat" => {
                    let [header, count, row] = text.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
                    write([plain(header), plain(row).repeat(count.parse().unwrap())].concat());
                }
                "zeros" => fs::File::create(&path).unwrap().set_len(text.parse().unwrap()).unwrap(),
                "cut" => fs::OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_len(text.parse().unwrap())
                    .unwrap(),
                "mkdir" => fs::create_dir(&path).unwrap(),
                "fifo" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                "link" => std::os::unix::fs::symlink(bench.path(text), &path).unwrap(),
                "do" => {
                    bench.write("p.toml", plain(&problem));
                    bench.run(&rest.split(' ').collect::<Vec<_>>()).exits(0);
                }
                "stop" => {
                    bench.write("p.toml", plain(&problem));
                    bench.run(&[&["run"], &*rest.split(' ').collect::<Vec<_>>()].concat()).exits(3);
                }
                "$" => command = rest,
                other => panic!("{}: nothing is known of `{other}`", self.title()),
            }
        }
        bench.write("p.toml", plain(&problem));
        let Done { code, stdout, stderr } = bench.run(&command.split(' ').collect::<Vec<_>>());
        let here = bench.folder.path().display().to_string();
        let mut answer = format!("exit {code}\n");
        for (sign, said) in [('|', stderr), ('>', stdout)] {
            for line in said.replace(&here, "HERE").lines() {
                answer += format!("{sign} {line}").trim_end();
                answer += "\n";
            }
        }
        answer
    }
}

/// A text with `\n`, `\\`, `\t` and `\xff` as what they stand for.
fn plain(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let (byte, length) = match after.as_bytes()[0] {
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            b'\\' => (b'\\', 1),
            b'x' => (u8::from_str_radix(&after[1..3], 16).unwrap(), 3),
            other => panic!("`\\{}` stands for nothing in {text}", other as char),
        };
        bytes.push(byte);
        rest = &after[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Runs all cases of a file, two at a time.
#[track_caller]
fn holds(name: &str) {
    let path = folder().join(format!("{name}.txt"));
    let mut catalogue = Catalogue::read(&path);
    let answers: Vec<Mutex<String>> = catalogue.cases.iter().map(|_| Mutex::default()).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(case) = catalogue.cases.get(at) else { break };
                    *answers[at].lock().unwrap() = case.run(&catalogue.base);
                }
            });
        }
    });
    let answers = answers.into_iter().map(|answer| answer.into_inner().unwrap());
    if std::env::var_os("COUNTERPOISE_WRITE_ERRORS").is_some() {
        catalogue.cases.iter_mut().zip(answers).for_each(|(case, answer)| case.answer = answer);
        fs::write(path, catalogue.text()).unwrap();
        return;
    }
    let mut wrong = String::new();
    for (case, answer) in catalogue.cases.iter().zip(answers) {
        let refused = !case.answer.starts_with("exit 0");
        if case.answer != answer || !refused {
            write!(wrong, "{}\nexpected:\n{}found:\n{answer}\n", case.title(), case.answer).unwrap();
        }
    }
    assert!(wrong.is_empty(), "tests/errors/{name}.txt:\n{wrong}");
}

macro_rules! catalogues {
    ($($name:ident),*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { holds(stringify!($name)); })*
    };
}

catalogues!(commands, method, networks, observed, problem, programs, runs, sbml, tables);

/// Whatever is written in these files to be said to a user is said in some case, or stands in `unlisted.txt` with a reason.
#[test]
fn every_text_is_listed() {
    let mut listed = String::new();
    for name in NAMES {
        for case in Catalogue::read(&folder().join(format!("{name}.txt"))).cases {
            listed += &case.answer;
        }
    }
    let unlisted = fs::read_to_string(folder().join("unlisted.txt")).unwrap();
    let excused: Vec<&str> = unlisted.lines().filter(|line| !line.starts_with('#')).collect();
    let (mut missing, mut used) = (String::new(), vec![false; excused.len()]);
    for path in sources() {
        for literal in literals(&fs::read_to_string(&path).unwrap()) {
            let Some(text) = longest(&literal) else { continue };
            if listed.contains(&text) {
                continue;
            }
            match excused.iter().position(|line| *line == text) {
                Some(at) => used[at] = true,
                None => writeln!(missing, "{}: {text}", path.display()).unwrap(),
            }
        }
    }
    assert!(missing.is_empty(), "add a case to tests/errors for each of these:\n{missing}");
    let stale: Vec<_> = excused.iter().zip(used).filter(|(line, used)| !used && !line.is_empty()).collect();
    assert!(stale.is_empty(), "these lines of unlisted.txt excuse nothing any more: {stale:?}");
}

/// Files whose texts are errors and hints, but for few.
fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut waiting: Vec<PathBuf> = [
        "cli/src/problem_file",
        "cli/src/numbers.rs",
        "cli/src/picture_file.rs",
        "cli/src/commands/broken.rs",
        "cli/src/commands/calibrate/reuse.rs",
        "cli/src/commands/compare/given.rs",
        "cli/src/commands/compare/mod.rs",
        "cli/src/commands/export.rs",
        "cli/src/commands/init.rs",
        "cli/src/commands/mod.rs",
        "cli/src/commands/plot.rs",
        "cli/src/commands/report.rs",
        "cli/src/commands/run.rs",
        "cli/src/commands/shell.rs",
        "cli/src/commands/show.rs",
        "cli/src/commands/simulate.rs",
        "cli/src/commands/stored.rs",
        "cli/src/commands/watch.rs",
        "core/src/adjust/mod.rs",
        "core/src/digest.rs",
        "core/src/problem/law/mod.rs",
        "core/src/problem/prior.rs",
        "core/src/problem/simulator.rs",
        "core/src/propose/mod.rs",
        "core/src/reduce/mod.rs",
        "core/src/weigh/mod.rs",
        "models/src/error.rs",
        "networks/src/language",
        "networks/src/observe",
        "networks/src/simulation.rs",
        "pictures/src/png.rs",
        "report/src/figures/mod.rs",
        "report/src/live/mod.rs",
        "report/src/run.rs",
        "run/src/command",
        "run/src/executor/mod.rs",
        "run/src/outcome.rs",
        "run/src/store/error.rs",
        "tables/src",
    ]
    .iter()
    .map(|path| crates.join(path))
    .collect();
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if !["tests.rs", "problem_file/keys.rs", "problem_file/manual.rs"]
            .iter()
            .any(|end| path.ends_with(end))
        {
            // The last two are the manual's sentences.
            files.push(path);
        }
    }
    files.sort();
    assert!(files.len() > 80, "files have moved");
    files
}

/// The string literals of a source file outside of comments and of its tests.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    // Quotes that are characters would be taken for the ends of texts.
    let source = lines.replace("'\"'", "");
    let (mut found, mut rest) = (Vec::new(), &*source);
    while let Some((_, after)) = rest.split_once('"') {
        let (mut text, mut letters) = (String::new(), after.char_indices());
        let mut end = after.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    // A line that goes on below.
                    Some((_, '\n')) => {
                        let here = letters.as_str();
                        let skipped = here.len() - here.trim_start().len();
                        for _ in 0..skipped {
                            letters.next();
                        }
                    }
                    Some((_, other)) => text.push(other),
                    None => {}
                },
                other => text.push(other),
            }
        }
        found.push(text);
        rest = &after[end..];
    }
    found
}

/// The longest piece between what is filled in, if it is long enough to be recognised.
fn longest(literal: &str) -> Option<String> {
    let text = literal.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let pieces = text.split(['{', '\n']).map(|piece| piece.split_once('}').map_or(piece, |(_, after)| after));
    let piece = pieces
        .max_by_key(|piece| piece.len())?
        .trim()
        .trim_start_matches("# ")
        .replace('\u{1}', "{")
        .replace('\u{2}', "}");
    (piece.len() >= 10 && piece.contains(' ')).then_some(piece)
}
