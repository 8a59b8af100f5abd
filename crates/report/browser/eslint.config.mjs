import js from "@eslint/js";

const names = (list) => Object.fromEntries(list.map((name) => [name, "readonly"]));
const browser = names(["DOMPoint", "Element", "EventSource", "document", "fetch", "window"]);
const node = names(["URL", "console", "fetch", "process", "setTimeout"]);
const rules = { ...js.configs.recommended.rules, eqeqeq: "error", "no-var": "error", "prefer-const": "error" };

export default [
  { files: ["src/page/script.js"], languageOptions: { sourceType: "script", globals: browser }, rules },
  { files: ["browser/*.mjs"], languageOptions: { sourceType: "module", globals: { ...node, ...browser } }, rules },
];
