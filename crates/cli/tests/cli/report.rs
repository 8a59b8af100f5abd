//! The page of a run, its pictures, and directories that are none.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{Bench, TOY};

fn page(bench: &Bench, run: &str) -> String {
    bench.run(&["report", run]).exits(0);
    fs::read_to_string(bench.path(run).join("report.html")).unwrap()
}

#[test]
fn a_run_names_the_report_and_the_report_names_the_run() {
    let bench = Bench::new(&TOY.replace("values = { x1 = 2.5, x2 = 5, x3 = 9 }", "truth = { theta = 10 }"));
    bench
        .run(&["run", "p.toml", "--into", "my run", "--set", "method.seed=8"])
        .exits(0)
        .says("a page with pictures: counterpoise report 'my run'");
    let summary = bench.run(&["show", "my run", "--json"]).exits(0).json();
    assert_eq!(summary["truth"]["theta"], 10.0);
    let page = page(&bench, "my run");
    for id in
        ["answer", "diagnosis", "marginals", "weights", "information", "course", "predictive", "provenance"]
    {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    assert!(!page.contains("<section id=\"pairs\">"), "there is one parameter");
    assert!(!page.contains("<section id=\"calibration\">"));
    let held_out = summary["information"]["held_out"].as_f64().unwrap();
    assert!(page.contains(&format!("<td class=\"n\" id=\"held-out\">{held_out:.3}</td>")));
    assert!(
        page.contains("counterpoise run p.toml --into &#39;my run&#39; --set method.seed=8")
            || page.contains("counterpoise run p.toml --into 'my run' --set method.seed=8")
    );
    assert!(page.contains("<td id=\"seed\">8</td>"));
    // Every figure in the page is that of the run, and nothing is fetched.
    for link in ["src=", "href=\"http", "url(", "@import", "<link rel=\"stylesheet\""] {
        assert!(!page.contains(link), "{link}");
    }
    // Written again without asking; another file is not overwritten.
    bench.run(&["report", "my run"]).exits(0);
    bench.run(&["report", "my run", "--out", "other.html"]).exits(0);
    bench.run(&["report", "my run", "--out", "other.html"]).exits(2).says("--force overwrites it");
    bench.run(&["report", "my run", "--out", "other.html", "--force"]).exits(0);
    assert_eq!(fs::read_to_string(bench.path("other.html")).unwrap(), page);
    bench.run(&["verify", "my run"]).exits(0);
}

#[test]
fn hostile_names_stay_text() {
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let bench = Bench::new(&TOY.replace("\"toy problem\"", &format!("\"{evil}\"")));
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    let study = json!({
        "verdict": evil, "datasets": 3, "curve": [0.5, 1.0], "coverage": [{"level": 0.9, "covered": 0.8, "error": 0.1}],
        "parameters": [{"name": evil, "ranks": [1, 2], "band": [0, 3]}],
    });
    fs::write(bench.path("r/calibration.json"), study.to_string()).unwrap();
    let rules = json!({ "datasets": 3, "rules": [{"rule": evil, "mean_bias": {"mean": 1.0, "error": 0.1}}] });
    fs::write(bench.path("r/comparison.json"), rules.to_string()).unwrap();
    let page = page(&bench, "r");
    assert_eq!(page.matches("<script").count(), 1, "our own");
    assert!(!page.contains("<img"));
    assert!(page.contains("<h1>&lt;script&gt;alert(1)&lt;/script&gt;"));
    for id in ["calibration", "comparison"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    for (what, file) in
        [("marginals", "m.svg"), ("weights", "w.svg"), ("information", "i.svg"), ("predictive", "p.svg")]
    {
        bench.run(&["plot", "r", "--what", what, "--out", file]).exits(0);
        let svg = fs::read_to_string(bench.path(file)).unwrap();
        assert!(svg.starts_with("<svg") && !svg.contains("<script"), "{what}");
    }
}

/// What the page says of a calibration is what `calibrate` says of itself.
#[test]
fn a_calibration_tells_where_its_truths_are_from() {
    let bench = Bench::new(&TOY.replace("generations = 2", "generations = 1"));
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    let own: [&[&str]; 4] = [&[], &["--around"], &["--reuse"], &["--reuse", "--around"]];
    let said = [
        "truths from the prior",
        "truths from the posterior",
        "out of the simulations themselves",
        "near the observation, each",
    ];
    for (words, said) in own.into_iter().zip(said) {
        let study = bench
            .run(&[&["calibrate", "p.toml", "--datasets", "4", "--json"], words].concat())
            .exits(0)
            .json();
        fs::write(bench.path("r/calibration.json"), study.to_string()).unwrap();
        let page = page(&bench, "r");
        assert!(page.contains(said), "{words:?}");
        assert_eq!(page.contains("truths from the prior."), words.is_empty(), "{words:?}");
        let caveat = study["caveat"].as_str().unwrap_or("datasets");
        assert!(page.contains(caveat), "{caveat}");
    }
}

#[test]
fn files_beside_that_are_no_studies_are_left_out() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    for nonsense in ["", "[]", "{\"rules\": 3, \"parameters\": [1], \"curve\": [\"x\"]}", "\u{0}"] {
        fs::write(bench.path("r/calibration.json"), nonsense).unwrap();
        fs::write(bench.path("r/comparison.json"), nonsense).unwrap();
        page(&bench, "r");
    }
}

#[test]
fn pictures_have_the_format_of_their_name() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    bench.run(&["plot", "r", "--what", "marginals", "--out", "m.png"]).exits(0);
    assert!(fs::read(bench.path("m.png")).unwrap().starts_with(b"\x89PNG"));
    bench.run(&["plot", "r", "--what", "marginals", "--out", "m.png"]).exits(2).says("exists already");
    bench
        .run(&["plot", "r", "--what", "marginals", "--out", "m.pdf"])
        .exits(2)
        .says("neither a .svg nor a .png");
    bench.run(&["plot", "r", "--what", "pairs", "--out", "p.svg"]).exits(2).says("there is one parameter");
    let text = bench.run(&["show", "r", "--plot"]).exits(0).stdout;
    assert!(text.contains("theta (posterior over the prior, log scale)") && text.contains("└──"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("x1 ")), "{text}");
    bench.run(&["show", "r", "--plot", "--json"]).exits(2);
}

#[test]
fn what_is_no_run_is_refused_by_all() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    fs::create_dir(bench.path("empty")).unwrap();
    let all = |directory: &str, code: i32, text: &str| {
        bench.run(&["report", directory]).exits(code).says(text);
        bench.run(&["watch", directory, "--port", "0"]).exits(code).says(text);
        let out = ["plot", directory, "--what", "marginals", "--out", "x.svg"];
        bench.run(&out).exits(code).says(text);
        assert!(!bench.path("x.svg").exists() && !bench.path(directory).join("report.html").exists());
    };
    all("empty", 2, "empty holds no run: it has no run.json");
    all("nowhere", 2, "nowhere is no directory with a run.json");
    all("p.toml", 2, "p.toml is no directory with a run.json");
    // Of a newer format.
    let record = fs::read_to_string(bench.path("r/run.json")).unwrap();
    let mut newer: Value = serde_json::from_str(&record).unwrap();
    newer["format"] = 99.into();
    fs::write(bench.path("r/run.json"), newer.to_string()).unwrap();
    all("r", 2, "a newer version of counterpoise wrote it");
    fs::write(bench.path("r/run.json"), &record[..record.len() / 2]).unwrap();
    all("r", 2, "run.json");
    fs::write(bench.path("r/run.json"), &record).unwrap();
    // Damaged.
    let path = bench.path("r/generations/001/simulations.parquet");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    all("r", 1, "simulations.parquet");
    bench.run(&["report", "r"]).exits(1).says("--salvage keeps what is whole");
}

#[test]
fn a_run_without_a_generation_is_for_watch() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "r", "--set", "stop.simulations=10"]).exits(3);
    bench
        .run(&["report", "r"])
        .exits(2)
        .says("no generation of the run in r is finished yet")
        .says("counterpoise watch r");
}

/// A page that is served until the test ends.
struct Served {
    child: Child,
    address: String,
    query: String,
}

impl Served {
    fn new(bench: &Bench, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
            .current_dir(bench.folder.path())
            .args(["watch", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("http://").expect(&line).to_owned();
        let (address, query) = url.split_once('/').unwrap();
        Self { address: address.replace("HOST", "127.0.0.1"), child, query: query.to_owned() }
    }

    /// The first bytes of an answer.
    fn ask(&self, request: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        // Events have no end: the first of them is enough.
        let (mut text, mut part) = (String::new(), [0; 4096]);
        while !text.contains("\ndata: {") {
            match stream.read(&mut part).unwrap() {
                0 => break,
                read => text += &String::from_utf8_lossy(&part[..read]),
            }
        }
        text
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_live_page_is_for_this_machine_or_for_those_with_the_token() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    let served = Served::new(&bench, &["r"]);
    assert!(served.address.starts_with("127.0.0.1:") && served.query.is_empty());
    let page = served.ask("GET /", &served.address);
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("content-security-policy: default-src 'none'"),
        "{page}"
    );
    assert!(page.contains("cache-control: no-store") && page.contains("referrer-policy: no-referrer"));
    // A name that somebody elsewhere gave to this address.
    assert!(served.ask("GET /", "evil.example").starts_with("HTTP/1.1 403"));
    assert!(served.ask("GET /", "localhost").starts_with("HTTP/1.1 200"));
    assert!(served.ask("POST /", "localhost").starts_with("HTTP/1.1 405"));
    assert!(served.ask("GET /../r/run.json", "localhost").starts_with("HTTP/1.1 404"));
    assert!(served.ask("GET /events", "localhost").contains("event: status\ndata: {"));
    let open = Served::new(&bench, &["r", "--bind", "0.0.0.0"]);
    assert!(open.query.len() > 24, "{}", open.query);
    for refused in ["GET /", "GET /body", "GET /events", "GET /?token=x", "GET /?token="] {
        assert!(open.ask(refused, "localhost").starts_with("HTTP/1.1 403"), "{refused}");
    }
    assert!(open.ask(&format!("GET /{}", open.query), "anything").starts_with("HTTP/1.1 200"));
}
