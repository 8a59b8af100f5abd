// A run is watched while it grows, is killed, goes on and ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { defects, launch, open, program, shot } from "./pages.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

// Slow, and some of its simulations fail with a message that is no HTML.
const SIMULATOR = `
import json, random, sys, time
print(json.dumps({"ready": True, "statistics": ["sum@1", "sum@2", "sum@3", "<b>odd</b>"]}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    draw = random.Random(job["seed"])
    time.sleep(0.006)
    if draw.random() < 0.1:
        print(json.dumps({"id": job["id"], "error": "<b>nobody came</b>"}), flush=True)
    else:
        k = job["parameters"]["k"]
        values = [k + draw.gauss(0, 1), 2 * k + draw.gauss(0, 1), 3 * k + draw.gauss(0, 1), draw.random()]
        print(json.dumps({"id": job["id"], "statistics": values}), flush=True)
`;
const PROBLEM = `name = "<script>window.hacked = 1</script>"
[parameters]
k = { law = "uniform", low = 0, high = 10 }
[model.command]
run = ["python3", "simulate.py"]
[observed]
values = { "sum@1" = 4, "sum@2" = 8, "sum@3" = 12, "<b>odd</b>" = 0.5 }
[method]
simulations = 400
keep = 40
weighting = "hellinger"
generations = 3
`;

const until = async (what, holds) => {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`not within 30 seconds: ${what}`);
};

test("a run grows, is killed, goes on and ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "counterpoise-"));
  writeFileSync(join(folder, "simulate.py"), SIMULATOR);
  writeFileSync(join(folder, "problem.toml"), PROBLEM);
  const started = [];
  const start = (...words) => {
    const child = spawn(program, words, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
    started.push(child);
    return child;
  };
  const run = () => start("run", "problem.toml", "--into", "run", "--threads", "2", "--quiet");
  try {
    let running = run();
    await until("run.json is there", () => existsSync(join(folder, "run/run.json")));
    const watching = start("watch", "run", "--port", "0");
    const url = await new Promise((done) => watching.stdout.once("data", (data) => done(String(data).trim())));
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    const { page, trouble, close } = await open(browser, url);
    const text = (id) => page.textContent(`#${id}`);
    const done = () => page.$eval("#progress", (bar) => bar.value);
    await until("it is running", async () => /^running \(process \d+ on /.test(await text("live-state")));
    const before = await done();
    await until("simulations are counted", async () => (await done()) > before + 20);
    await until("there is a rate", async () => /a second$/.test(await text("live-rate")));
    await until("there is an end", async () => /^about /.test(await text("live-left")));
    await until("failures are told", async () => /row \d+: .*<b>nobody came<\/b>/.test(await text("failures")));
    assert.ok(Number(await text("live-failed")) > 0);
    await until("a generation is shown", async () => (await page.locator("#answer").count()) === 1);
    await page.fill("#filter", "odd");
    await shot(page, "watch-running");
    running.kill("SIGKILL");
    await until("nobody is at work", async () => /nobody is at work/.test(await text("live-state")));
    // A generation that is half written is no generation.
    const next = (await page.$$eval("#course table:not(.bars) tbody tr", (list) => list.length)).toString().padStart(3, "0");
    mkdirSync(join(folder, "run/generations", next), { recursive: true });
    const half = join(folder, "run/generations", next, "generation.json");
    writeFileSync(half, '{"generation": 1, "simul');
    await until("it is said", async () => (await text("live-trouble")).includes("generation.json"));
    assert.equal(await page.locator("#answer").count(), 1);
    rmSync(half);
    running = run();
    await until("it goes on", async () => /^running/.test(await text("live-state")));
    await until("it ends", async () => (await text("live-state")) === "finished");
    await until("all is shown", async () => (await page.$$eval("#course table:not(.bars) tbody tr", (list) => list.length)) === 3);
    assert.equal(await text("live-trouble"), "");
    assert.equal(await page.inputValue("#filter"), "odd", "what was typed stays");
    assert.equal(await text("filtered"), "2 of 10");
    await page.fill("#filter", "");
    assert.equal(await page.textContent("h1"), "<script>window.hacked = 1</script>");
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual(await defects(page), []);
    await shot(page, "watch-finished");
    assert.deepEqual(trouble, []);
    await close();
  } finally {
    started.forEach((child) => child.kill("SIGKILL"));
    rmSync(folder, { recursive: true, force: true });
  }
});
