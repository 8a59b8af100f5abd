// The report of each example, as a person would look at it.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { counterpoise, defects, launch, looks, open, rows, runs, screenshots, shot, summary } from "./pages.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const examples = readdirSync(runs).filter((name) => statSync(join(runs, name)).isDirectory());
assert.ok(examples.length > 0, `there is no run in ${runs}`);

const report = (name) => {
  const directory = join(runs, name);
  const file = join(screenshots, `${name}.html`);
  counterpoise("report", directory, "--out", file, "--force");
  return { file, url: pathToFileURL(file).href, told: summary(directory) };
};

const near = (text, number, what, digits = 4) => {
  const error = 0.6 * 10 ** (1 - digits) * Math.abs(number);
  assert.ok(Math.abs(Number(text) - number) <= error + 1e-12, `${what}: ${text} is not ${number}`);
};

const weighed = 'weights table[data-shares="distance"]';

for (const name of examples) {
  test(`report of ${name}`, async () => {
    const { file, url, told } = report(name);
    assert.ok(statSync(file).size < 3e6, `${statSync(file).size} bytes`);
    for (const [look, options] of Object.entries(looks)) {
      const { page, trouble, close } = await open(browser, url, options);
      const several = Object.keys(told.parameters).length > 1;
      const expected = ["answer", "diagnosis", "marginals", ...(several ? ["pairs"] : []), "weights", "information"];
      expected.push("course", "predictive", "provenance");
      assert.deepEqual(await page.$$eval("main > section", (list) => list.map((one) => one.id)), expected);
      await page.$$eval("details", (list) => list.forEach((one) => (one.open = true)));
      assert.deepEqual(await defects(page), [], look);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= options.viewport.width, `${look}: the page is ${wide} wide`);
      await shot(page, `${name}-${look}`);
      if (look === "light") {
        await numbers(page, told);
        await hovering(page);
        await filtering(page, told);
      }
      assert.deepEqual(trouble, [], look);
      await close();
    }
  });
}

async function numbers(page, told) {
  const answer = await rows(page, "answer");
  assert.deepEqual(answer.map((row) => row.name), Object.keys(told.parameters));
  for (const { name, cells } of answer) {
    const parameter = told.parameters[name];
    const keys = ["median", "q05", "q95", "mean", "sd", "mode"];
    keys.forEach((key, at) => near(cells[at + 1], parameter[key], `${key} of ${name}`));
  }
  const marginals = await page.$$eval("#marginals figure", (list) => list.map((one) => one.dataset.name));
  assert.deepEqual(marginals, Object.keys(told.parameters));
  assert.equal(await page.textContent("#held-out"), told.information.held_out.toFixed(3));
  assert.equal(await page.textContent("#seed"), String(told.seed));
  const weights = await rows(page, weighed);
  const influence = await rows(page, 'weights table[data-shares="influence"]');
  // Weights of statistics that are compared as they are, and not moved by a regression, tell how much these count.
  const features = Object.keys(told.distance_weights).filter((name) => !(name in told.influence));
  const tells = !told.adjusted && features.every((name) => told.distance_weights[name] === 0);
  assert.equal(influence.length, tells ? 0 : Object.keys(told.influence).length);
  influence.forEach(({ name, cells }) => near(cells[2], 100 * told.influence[name], `influence of ${name}`, 3));
  const compared = Object.values(told.distance_weights).filter((weight) => tells || weight > 0);
  assert.equal(weights.length, compared.length);
  weights.forEach(({ name, cells }) => near(cells[3], told.distance_weights[name], `weight of ${name}`));
  for (const table of [weights, influence].filter((list) => list.length > 0)) {
    const shares = table.map(({ cells }) => Number(cells[2]));
    assert.deepEqual(shares, [...shares].sort((one, other) => other - one), "the heaviest first");
    assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100) < 1, "shares are of the whole");
  }
  const course = await page.$$eval("#course .scroll:not(.tall) table:not(.bars) tbody tr", (list) =>
    list.map((row) => Array.from(row.cells, (cell) => cell.textContent)),
  );
  assert.equal(course.length, told.generations);
  told.history.forEach((step, at) => {
    const [generation, simulations, failed, kept, ess, threshold, heldOut, inSample, evaluations] = course[at];
    const whole = [generation, simulations, failed, kept, evaluations].map(Number);
    assert.deepEqual(whole, [step.generation, step.simulations, step.failed, step.kept, step.evaluations]);
    near(ess, step.ess, "ESS");
    near(threshold, step.threshold, "threshold");
    assert.deepEqual([heldOut, inSample], [step.information.held_out.toFixed(3), step.information.in_sample.toFixed(3)]);
  });
  const diagnosis = await page.$$eval("#diagnosis .warning p:first-child", (list) => list.map((one) => one.textContent));
  assert.deepEqual(diagnosis, told.warnings);
  assert.equal(await page.locator("#diagnosis .remedy").count(), told.warnings.length);
}

/** In the middle of the window: at its upper end the page's bar would be in the way. */
const center = (place) => place.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));

async function hovering(page) {
  const tip = page.locator("#tip");
  const bar = page.locator(`#${weighed} tbody tr:first-child .bar`);
  await center(bar);
  await bar.hover();
  const name = await page.locator(`#${weighed} tbody tr:first-child`).getAttribute("data-name");
  assert.ok((await tip.textContent()).startsWith(`${name}: `), await tip.textContent());
  assert.match(await tip.textContent(), /folds [\d.e-]+ % to [\d.e-]+ %/);
  // Over the posterior's highest point, its value is told.
  const svg = page.locator("#marginals svg").first();
  await center(svg);
  const [x, y] = await svg.evaluate((element) => {
    const path = element.querySelector('path[data-series="posterior"]');
    const points = Array.from(path.getAttribute("d").matchAll(/([-\d.]+) ([-\d.]+)/g), (pair) => pair.slice(1).map(Number));
    const top = points.reduce((best, point) => (point[1] < best[1] ? point : best));
    const at = new DOMPoint(...top).matrixTransform(element.getScreenCTM());
    return [at.x, at.y];
  });
  await page.mouse.move(x, y);
  assert.match(await tip.textContent(), /^posterior\n[-\d.e+]+, [-\d.e+]+$/);
  // Over a point of the pairs, both its values are.
  const pair = page.locator("#pairs .matrix svg");
  if ((await pair.count()) > 0) {
    await center(pair);
    const [series, ...at] = await pair.evaluate((element) => {
      const dots = element.querySelector('path[stroke-linecap="round"]');
      const first = dots.getAttribute("d").match(/M([-\d.]+) ([-\d.]+)/).slice(1).map(Number);
      const place = new DOMPoint(...first).matrixTransform(element.getScreenCTM());
      return [dots.dataset.series, place.x, place.y];
    });
    await page.mouse.move(...at);
    const told = await tip.textContent();
    assert.ok(told.startsWith(`${series}\n`) && /\n[-\d.e+]+, [-\d.e+]+$/.test(told), told);
  }
  await page.mouse.move(2, 2);
  assert.equal(await tip.isVisible(), false);
}

async function filtering(page, told) {
  const shown = () => page.$$eval("[data-name]", (list) => list.filter((one) => one.offsetParent !== null).map((one) => one.dataset.name));
  const all = await shown();
  const name = Object.keys(told.influence).at(-1);
  await page.fill("#filter", name.toUpperCase());
  const left = await shown();
  assert.ok(left.length > 0 && left.length < all.length);
  assert.ok(left.every((one) => one.toLowerCase().includes(name.toLowerCase())));
  assert.match(await page.textContent("#filtered"), /^\d+ of \d+$/);
  await page.fill("#filter", "");
  assert.deepEqual(await shown(), all);
}

test("studies beside a run are shown, and hostile text stays text", async () => {
  const folder = mkdtempSync(join(tmpdir(), "counterpoise-"));
  try {
    const directory = join(folder, "run");
    cpSync(join(runs, "death"), directory, { recursive: true });
    const evil = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>";
    const parameter = { name: evil, covered: [0.5], ranks: [8, 12, 9, 11, 10, 13, 7, 10, 9, 11], band: [2, 18] };
    const calibration = {
      verdict: `90 % intervals cover 88 %: no sign of trouble ${evil}`,
      datasets: 100,
      coverage: [{ level: 0.9, covered: 0.88, error: 0.03 }],
      curve: Array.from({ length: 20 }, (_, at) => ((at + 1) / 20) ** 1.1),
      parameters: [parameter, { ...parameter, name: "sigma" }],
    };
    writeFileSync(join(directory, "calibration.json"), JSON.stringify(calibration));
    const rules = ["uniform", "hellinger", evil].map((rule, at) => ({
      rule,
      mean_bias: { mean: 0.3 - 0.05 * at, error: 0.04 },
      coverage_90: { mean: 0.88, error: 0.03 },
    }));
    writeFileSync(join(directory, "comparison.json"), JSON.stringify({ datasets: 10, rules }));
    const file = join(folder, "report.html");
    counterpoise("report", directory, "--out", file);
    for (const [look, options] of Object.entries(looks)) {
      const { page, trouble, close } = await open(browser, pathToFileURL(file).href, options);
      assert.match(await page.textContent("#calibration"), /no sign of trouble/);
      assert.match(await page.textContent("#comparison tbody"), /hellinger0.25 ± 0.04/);
      assert.equal(await page.locator("#calibration figure").count(), 3);
      assert.deepEqual(await defects(page), [], look);
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      assert.equal(await page.locator("img, script").count(), 1);
      assert.deepEqual(trouble, []);
      await shot(page, `studies-${look}`);
      await close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
