"use strict";
(() => {
  const tip = document.getElementById("tip");
  const vertices = new WeakMap();

  function hide() {
    tip.hidden = true;
  }

  function show(event, text) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 6);
    const below = event.clientY + 16;
    const top = below + box.height > window.innerHeight ? event.clientY - box.height - 10 : below;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${Math.max(top, 4)}px`;
  }

  // The corners of a line, from its path.
  function corners(path) {
    if (!vertices.has(path)) {
      const pairs = path.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g);
      vertices.set(path, Array.from(pairs, (pair) => [Number(pair[1]), Number(pair[2])]));
    }
    return vertices.get(path);
  }

  // The value at a share of an axis, as its panel describes it.
  function value(axis, share) {
    const [kind, low, high] = axis.split(" ");
    const [a, b] = [Number(low), Number(high)];
    return kind === "log" ? a * Math.pow(b / a, share) : a + share * (b - a);
  }

  function short(number) {
    return String(Number(number.toPrecision(3)));
  }

  // What the nearest line of a panel says where the pointer is.
  function read(svg, event) {
    const matrix = svg.getScreenCTM();
    if (!matrix) return null;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let best = null;
    for (const panel of svg.querySelectorAll("g[data-frame]")) {
      const [left, top, right, bottom] = panel.dataset.frame.split(" ").map(Number);
      if (at.x < left || at.x > right || at.y < top || at.y > bottom) continue;
      for (const path of panel.querySelectorAll("path[data-series]")) {
        for (const [x, y] of corners(path)) {
          const distance = Math.hypot(3 * (x - at.x), y - at.y);
          if (distance < (best ? best.distance : 60)) {
            const shown = [
              value(panel.dataset.x, (x - left) / (right - left)),
              value(panel.dataset.y, (bottom - y) / (bottom - top)),
            ];
            best = { distance, text: `${path.dataset.series}\n${shown.map(short).join(", ")}` };
          }
        }
      }
    }
    return best && best.text;
  }

  function point(event) {
    const target = event.target instanceof Element ? event.target : null;
    const marked = target && target.closest("[data-tip]");
    if (marked) {
      show(event, marked.dataset.tip);
      return;
    }
    const svg = target && target.closest("svg[role=img]");
    const text = svg && read(svg, event);
    if (text) show(event, text);
    else hide();
  }

  function filter() {
    const input = document.getElementById("filter");
    const told = document.getElementById("filtered");
    if (!input || !told) return;
    const wanted = input.value.trim().toLowerCase();
    let [shown, all] = [0, 0];
    for (const element of document.querySelectorAll("[data-name]")) {
      const keep = element.dataset.name.toLowerCase().includes(wanted);
      element.hidden = !keep;
      all += 1;
      shown += keep ? 1 : 0;
    }
    told.textContent = wanted ? `${shown} of ${all}` : "";
  }

  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("pointerleave", hide);
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("input", (event) => {
    if (event.target.id === "filter") filter();
  });

  const query = document.body.dataset.query;
  if (query === undefined) return;

  // Live: status lines as they come, the page anew with every generation.
  function put(id, text) {
    const element = document.getElementById(id);
    if (element && element.textContent !== text) element.textContent = text;
  }

  async function renew() {
    const answer = await fetch(`body${query}`);
    if (!answer.ok) return;
    const wanted = document.getElementById("filter")?.value ?? "";
    document.getElementById("main").innerHTML = await answer.text();
    const input = document.getElementById("filter");
    if (input && wanted) input.value = wanted;
    filter();
  }

  const source = new EventSource(`events${query}`);
  let drawn = document.getElementById("live").dataset.version;
  source.addEventListener("status", (event) => {
    const status = JSON.parse(event.data);
    for (const [id, text] of Object.entries(status.texts)) put(id, text);
    const bar = document.getElementById("progress");
    bar.max = status.planned;
    bar.value = status.done;
    const list = document.getElementById("failures");
    list.replaceChildren(
      ...status.failures.map((text) => {
        const item = document.createElement("li");
        item.textContent = text;
        return item;
      }),
    );
    put("connection", "");
    if (status.version !== drawn) {
      drawn = status.version;
      renew();
    }
  });
  source.addEventListener("error", () => put("connection", "the watching process is not answering; trying again"));
})();
