//! Looks at a run again and again.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use counterpoise_run::store::{Follower, GENERATION_FILE, RUN_FILE, holder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::watch::Sender;

use crate::number::{duration, significant};
use crate::page;
use crate::run::Run;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(500);
/// Over which the rate is measured.
const WINDOW: Duration = Duration::from_secs(30);
/// The longest message of a failure.
const LONGEST: usize = 600;

/// What was seen last.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) title: String,
    /// Another where the body is another.
    pub(super) version: String,
    /// The sections of the page, as HTML.
    pub(super) body: Arc<str>,
    /// How far the run is, as JSON for the script.
    pub(super) status: Value,
}

/// What tells one state of `run.json` from another.
type Stamp = Option<(SystemTime, u64)>;

/// Follows one directory.
pub(super) struct Follow {
    directory: PathBuf,
    run: Run,
    journal: Follower,
    stamp: Stamp,
    version: String,
    body: Arc<str>,
    counts: VecDeque<(Instant, u64)>,
    trouble: Option<String>,
}

/// A page that outlives this process and meets another must see whether it shows the same.
fn version(body: &str) -> String {
    STANDARD.encode(&Sha256::digest(body.as_bytes())[..12])
}

fn stamp(directory: &Path) -> Stamp {
    let metadata = fs::metadata(directory.join(RUN_FILE)).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl Follow {
    /// `run` is what the directory holds now.
    pub(super) fn new(directory: &Path, run: Run) -> Self {
        let (stamp, body) = (stamp(directory), Arc::<str>::from(page::body(&run).into_string()));
        let mut follow = Self {
            directory: directory.to_path_buf(),
            run,
            journal: Follower::default(),
            stamp,
            version: version(&body),
            body,
            counts: VecDeque::new(),
            trouble: None,
        };
        follow.look();
        follow
    }

    /// Looks until nobody listens.
    pub(super) fn go(mut self, sender: &Sender<Arc<Seen>>) {
        loop {
            std::thread::sleep(PAUSE);
            self.look();
            let seen = self.seen();
            sender.send_if_modified(|last| {
                let changed = last.version != seen.version || last.status != seen.status;
                *last = seen;
                changed
            });
            if sender.is_closed() {
                return;
            }
        }
    }

    fn next(&self) -> u32 {
        u32::try_from(self.run.history.len()).unwrap_or(u32::MAX)
    }

    fn committed(&self) -> PathBuf {
        self.directory.join(format!("generations/{:03}", self.next())).join(GENERATION_FILE)
    }

    fn look(&mut self) {
        let found = stamp(&self.directory);
        if found != self.stamp || self.committed().exists() {
            // What is being written at this moment is read the next time.
            match Run::read(&self.directory) {
                Ok(run) => {
                    (self.run, self.stamp, self.trouble) = (run, found, None);
                    let body = page::body(&self.run).into_string();
                    if *body != *self.body {
                        (self.version, self.body) = (version(&body), body.into());
                    }
                }
                Err(error) => self.trouble = Some(error.to_string()),
            }
        }
        if let Err(error) = self.journal.look(&self.directory, self.next()) {
            self.trouble = Some(error.to_string());
        }
        let now = Instant::now();
        let done = self.done();
        if self.counts.back().is_some_and(|(_, last)| *last > done) {
            self.counts.clear();
        }
        self.counts.push_back((now, done));
        while self.counts.len() > 2 && now.duration_since(self.counts[0].0) > WINDOW {
            self.counts.pop_front();
        }
    }

    fn done(&self) -> u64 {
        self.journal.done + self.run.history.iter().map(|one| one.simulations as u64).sum::<u64>()
    }

    /// Simulations a second over the last half minute.
    fn rate(&self) -> Option<f64> {
        let (first, last) = (self.counts.front()?, self.counts.back()?);
        let seconds = last.0.duration_since(first.0).as_secs_f64();
        (seconds > 0.9 && last.1 > first.1).then(|| (last.1 - first.1) as f64 / seconds)
    }

    /// The state as it was last seen.
    pub(super) fn seen(&self) -> Arc<Seen> {
        let method = &self.run.description["method"];
        let a_generation = method["simulations"].as_u64().unwrap_or(0);
        let (done, planned) = (self.done(), self.run.planned() * a_generation);
        let finished = self.run.summary["finished"] == true;
        let at_work = holder(&self.directory);
        let state = match (&at_work, finished) {
            (_, true) => "finished".to_owned(),
            (Some(holder), false) => format!("running ({holder})"),
            (None, false) => "nobody is at work; the same command goes on".to_owned(),
        };
        let failed = self.journal.failed + self.run.history.iter().map(|one| one.failed as u64).sum::<u64>();
        let running = at_work.is_some() && !finished;
        let rate = self.rate().filter(|_| running);
        let left = rate.map(|rate| self.left(planned.saturating_sub(done), rate));
        let step = match (finished, self.journal.rows()) {
            (true, _) => format!("{} of {}", self.run.history.len(), self.run.planned()),
            (false, Some(rows)) if self.journal.done < rows => {
                format!(
                    "{} of {}: simulating {} of {rows}",
                    self.next(),
                    self.run.planned(),
                    self.journal.done
                )
            }
            (false, Some(_)) => format!("{} of {}: weighing", self.next(), self.run.planned()),
            (false, None) => format!("{} of {}", self.next(), self.run.planned()),
        };
        let failures = self.journal.failures.iter().rev().take(20).map(|(generation, row, why)| {
            let why: String = why.chars().take(LONGEST).collect();
            format!("generation {generation}, row {row}: {why}")
        });
        let dash = || "\u{2013}".to_owned();
        let status = json!({
            "version": self.version,
            "planned": planned.max(1),
            "done": if finished { planned.max(1) } else { done },
            "failures": failures.collect::<Vec<String>>(),
            "texts": {
                "live-state": state,
                "live-step": step,
                "live-done": format!("{done} of {planned}"),
                "live-failed": failed.to_string(),
                "live-rate": rate.map_or_else(dash, |rate| format!("{} a second", significant(rate, 3))),
                "live-left": left.map_or_else(dash, |left| format!("about {}", duration(left))),
                "live-trouble": self.trouble.clone().unwrap_or_default(),
            },
        });
        Arc::new(Seen {
            title: self.run.name().to_owned(),
            version: self.version.clone(),
            body: self.body.clone(),
            status,
        })
    }

    /// Seconds until the end: the simulations that are left, and the weighing of each generation as it took before.
    fn left(&self, simulations: u64, rate: f64) -> f64 {
        let spent = |stage: &str| self.run.summary["seconds"][stage].as_f64().unwrap_or(0.0);
        let made = self.run.history.len().max(1) as f64;
        let between = (spent("total") - spent("simulate")).max(0.0) / made;
        let generations = self.run.planned().saturating_sub(self.run.history.len() as u64) as f64;
        simulations as f64 / rate + between * generations
    }
}
