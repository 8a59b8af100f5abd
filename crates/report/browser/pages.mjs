// What the tests share: a browser, and pages that are watched for errors and requests.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const need = (name) => {
  assert.ok(process.env[name], `set ${name}`);
  return resolve(process.env[name]);
};

/** The program, the folder of the examples' runs, and where screenshots go. */
export const program = need("COUNTERPOISE");
export const runs = need("RUNS");
export const screenshots = need("SCREENSHOTS");
mkdirSync(screenshots, { recursive: true });

export const counterpoise = (...words) => execFileSync(program, words, { encoding: "utf8" });
export const summary = (directory) => JSON.parse(counterpoise("show", directory, "--json"));

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-background-networking"],
  });

/** Ways to look at a page. */
export const looks = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

/** Opens an address; `trouble` collects errors, and requests that leave it. */
export async function open(browser, url, look = looks.light) {
  const context = await browser.newContext(look);
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(error.message));
  const origin = new URL(url).origin;
  page.on("request", (request) => {
    const asked = request.url();
    const own = asked === url || asked.startsWith("data:") || (origin !== "null" && asked.startsWith(origin));
    if (!own) trouble.push(`asked for ${asked}`);
  });
  await page.goto(url);
  return { page, trouble, close: () => context.close() };
}

/** Labels that lie on each other or are too small to read, panels without anything in them, and text that leaves its picture. */
export const defects = (page) =>
  page.evaluate(() => {
    const found = [];
    for (const svg of document.querySelectorAll("svg[role=img]")) {
      const name = svg.getAttribute("aria-label");
      const frame = svg.getBoundingClientRect();
      if (frame.width === 0) continue;
      const texts = Array.from(svg.querySelectorAll("text"), (text) => [text.textContent, text.getBoundingClientRect()]);
      for (const text of svg.querySelectorAll("text")) {
        const size = Number(text.getAttribute("font-size")) * svg.getScreenCTM().a;
        if (size < 7.9) found.push(`${name}: "${text.textContent}" is ${size} pixels high`);
      }
      texts.forEach(([text, box], at) => {
        if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.bottom > frame.bottom + 2) {
          found.push(`${name}: "${text}" leaves the picture`);
        }
        for (const [other, beside] of texts.slice(at + 1)) {
          const across = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
          const down = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
          // Boxes of letters are higher than the letters.
          if (across > 1 && down > 0.35 * Math.min(box.height, beside.height)) found.push(`${name}: "${text}" is on "${other}"`);
        }
      });
      for (const panel of svg.querySelectorAll("g[data-frame]")) {
        if (panel.children.length === 0) found.push(`${name}: an empty panel`);
      }
    }
    return found;
  });

/** The cells of a table's rows, by the name of the row. */
export const rows = (page, section) =>
  page.$$eval(`#${section} tbody tr[data-name]`, (list) =>
    list.map((row) => ({ name: row.dataset.name, cells: Array.from(row.cells, (cell) => cell.textContent) })),
  );

export const shot = (page, name) => page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
