// Part 3: what a release must satisfy, and how the search is steered. Every slider is an edit of the spec.

import { app, asked, edit, settle, slide, take } from "./app.js";
import { attributesOf, kindOf, namedBy, sectionOf } from "./table.js";
import { byId, el, percent, select, show, short } from "./dom.js";

const LOG = (lo, hi, digits = 0) => ({
  from: (value) => Math.log(value / lo) / Math.log(hi / lo),
  to: (share) => Number((lo * (hi / lo) ** share).toFixed(digits)),
});
const LINEAR = (lo, hi, digits) => ({ from: (value) => (value - lo) / (hi - lo), to: (share) => Number((lo + share * (hi - lo)).toFixed(digits)) });

const BOUNDS = {
  k: { symbol: "k", scale: LOG(1, 2000), words: "records that share each combination, at least", whole: true },
  l: { symbol: "ℓ", scale: LINEAR(1, 12, 0), words: "different sensitive values in each group, at least", whole: true },
  t: { symbol: "t", scale: LINEAR(0, 1, 2), words: "distance of a group from the whole, at most" },
  limit: { symbol: "limit", scale: LINEAR(0.05, 1, 2), words: "share of a sensitive value in a group, at most" },
  alpha: { symbol: "α", scale: LINEAR(0.05, 1, 2), words: "share of a sensitive value in a group, at most" },
  beta: { symbol: "β", scale: LOG(0.1, 20, 1), words: "times its share more likely in a group, at most" },
  e: { symbol: "e", scale: LOG(1, 100000), words: "from the smallest to the largest value of a group, at least" },
  epsilon: { symbol: "ε", scale: LOG(0.05, 10, 2), words: "what one record can change, as exp(ε)" },
};
const KINDS = {
  "k-anonymity": { text: "k-anonymity", keys: { k: 10 } },
  confidence: { text: "template: limit the share of a sensitive value", keys: { limit: 0.5 }, sensitive: true },
  "l-diversity": { text: "ℓ-diversity", keys: { l: 2 }, sensitive: true },
  "t-closeness": { text: "t-closeness", keys: { t: 0.3 }, sensitive: true },
  "alpha-k-anonymity": { text: "(α, k)-anonymity", keys: { k: 10, alpha: 0.5 }, sensitive: true },
  "beta-likeness": { text: "β-likeness", keys: { beta: 2 }, sensitive: true },
  "k-e-anonymity": { text: "(k, e)-anonymity", keys: { k: 3, e: 1000 }, sensitive: true, takes: "number" },
  "differential-privacy": { text: "differential privacy", keys: { epsilon: 1 } },
};
const METHODS = [["refinement", "masked rows (refinement)"], ["additive", "weights, ε-private (additive)"], ["diffgen", "noisy counts, ε-private (DiffGen)"], ["safe", "true rows, (ε, δ)-private (safe)"]];
const SETTINGS = { refinement: {}, additive: {}, diffgen: { specializations: 8 }, safe: { delta: 1e-9 } };

let adding = "k-anonymity";

export function drawRequirements() {
  const { content } = app.state;
  const requirements = content.require ?? [];
  const publish = content.publish ?? {};
  const method = publish.method ?? "refinement";
  show(byId("requirements"),
    el("h1", {}, "Requirements"),
    el("label", { class: "line" }, "What is released", select("method", METHODS, method, (word) => edit({ do: "method", word, settings: SETTINGS[word], epsilon: 1 }), "method")),
    method !== "refinement" && [declaring(), withheld()],
    requirements.map(card),
    method === "refinement" && adder(),
    method === "diffgen" && amount("specializations", ["publish", "specializations"], publish.specializations ?? 8, LINEAR(0, 40, 0), "h: how often a value is refined"),
    method === "refinement" && leaving(publish),
    method === "refinement" && searching(publish),
    method === "refinement" && steering());
}

// Differential privacy needs every domain to be public: the owner says so of all that are not declared yet.
function declaring() {
  const isDeclared = (name) => ["range", "values", "labels", "taxonomy", "derive"].some((key) => sectionOf(name)[key] !== undefined);
  const open = [...attributesOf().map(({ name }) => name), app.state.content.table.class].filter((name) => !isDeclared(name));
  return open.length > 0 && el("p", {}, `${open.length} domains are read off the data, which differential privacy cannot use. `,
    el("button", { type: "button", onclick: () => edit(open.map((column) => ({ do: "declare", column }))) }, "Declare them all as public"));
}

function withheld() {
  if (app.state.previews) return el("p", { class: "owner" }, "Previews are on: for the owner’s eyes, not private. To pick ε by them is a look at the data that no budget counts.");
  return el("div", { class: "owner" },
    el("p", {}, "A private release is drawn once, when you publish. A preview is drawn from a seed from the raw rows: it is for the owner’s eyes, not private, and costs no budget because it must not leave this page."),
    el("button", { type: "button", onclick: async () => { const state = await asked("preview"); if (state) take(state); } }, "Show previews, for my eyes only"));
}

function slider(key, path, value, gesture) {
  const bound = BOUNDS[key];
  const change = (wanted, name) => slide({ do: "set", path, value: wanted }, name);
  const range = el("input", {
    type: "range", min: 0, max: 1000, step: 1, value: Math.round(1000 * Math.min(1, Math.max(0, bound.scale.from(value)))), "aria-label": `${bound.symbol}: ${bound.words}`,
    "aria-valuetext": `${bound.symbol} = ${value}`, data: { focus: `range-${gesture}` },
    oninput: (event) => { const wanted = bound.scale.to(event.target.value / 1000); box.value = wanted; change(wanted, `${gesture}-${began}`); },
    onchange: ended,
  });
  const box = el("input", {
    type: "number", value, min: 0, step: bound.whole ? 1 : 0.01, "aria-label": bound.symbol, data: { focus: `box-${gesture}` },
    onchange: (event) => change(Number(event.target.value), null),
  });
  return el("div", { class: "slider" }, el("span", { class: "symbol" }, bound.symbol), range, box, el("small", {}, bound.words));
}
let began = 0;
function ended() {
  began += 1;
  settle();
}

function card(requirement, place) {
  const kind = KINDS[requirement.kind] ?? { text: requirement.kind, keys: {} };
  const keys = Object.keys(BOUNDS).filter((key) => requirement[key] !== undefined);
  return el("article", { class: "card", "aria-label": `requirement ${place + 1}` },
    el("header", {}, el("h2", {}, `${place + 1} · ${kind.text}`),
      (app.state.content.require.length > 1) && el("button", { type: "button", class: "quiet", "aria-label": `remove requirement ${place + 1}`, onclick: () => edit({ do: "unset", path: ["require", place] }) }, "remove")),
    keys.map((key) => slider(key, ["require", place, key], requirement[key], `${place}-${key}`)),
    requirement.sensitive !== undefined && el("label", { class: "line" }, "Sensitive", select("sensitive attribute",
      attributesOf().map(({ name }) => [name, name]), requirement.sensitive, (value) => edit({ do: "set", path: ["require", place, "sensitive"], value }))),
    ["confidence", "alpha-k-anonymity"].includes(requirement.kind) && secrets(requirement, place),
    namedBy(requirement) && chips(requirement, place));
}

// Which values are limited; without a choice, all.
function secrets(requirement, place) {
  const column = app.table.columns.find(({ name }) => name === requirement.sensitive);
  const names = sectionOf(requirement.sensitive).labels;
  const values = (column?.values ?? []).slice(0, 20).map((value) => names?.[value] ?? value);
  const held = requirement.values ?? [];
  const path = ["require", place, "values"];
  const toggle = (value) => { const next = held.includes(value) ? held.filter((item) => item !== value) : [...held, value]; edit(next.length ? { do: "set", path, value: next } : { do: "unset", path }); };
  return el("fieldset", { class: "chips" }, el("legend", {}, held.length ? "Values that are limited" : "Values that are limited: all, unless you choose"),
    values.map((value) => el("button", { type: "button", class: "chip", "aria-pressed": held.includes(value), title: value, data: { focus: `secret-${place}-${value}` }, onclick: () => toggle(value) }, short(value, 24))));
}

function chips(requirement, place) {
  const held = namedBy(requirement);
  const free = attributesOf().filter(({ name }) => name !== requirement.sensitive);
  return el("fieldset", { class: "chips" }, el("legend", {}, requirement.channel ? "Channel" : "Quasi-identifier: what others can know"),
    free.map(({ name }) => el("button", {
      type: "button", class: "chip", "aria-pressed": held.includes(name), title: name, data: { focus: `chip-${place}-${name}` },
      onclick: () => edit({ do: "known", column: name, requirement: place, on: !held.includes(name) }),
    }, short(name, 24))));
}

function adder() {
  const kinds = Object.entries(KINDS).filter(([name]) => name !== "differential-privacy").map(([name, kind]) => [name, kind.text]);
  return el("div", { class: "row" }, select("kind of requirement", kinds, adding, (value) => { adding = value; }),
    el("button", { type: "button", onclick: add }, "Add a requirement"));
}

function add() {
  const names = attributesOf().map(({ name }) => name);
  const used = (app.state.content.require ?? []).flatMap((item) => namedBy(item) ?? []);
  const kind = KINDS[adding];
  const free = attributesOf().filter(({ name }) => !used.includes(name) && kindOf(name) === (kind.takes ?? "category"));
  const sensitive = kind.sensitive ? free[0]?.name ?? names.at(-1) : undefined;
  const about = used.length ? [...new Set(used)].filter((name) => name !== sensitive) : names.filter((name) => name !== sensitive).slice(0, 3);
  edit({ do: "require", requirement: { kind: adding, [adding === "confidence" ? "channel" : "quasi-identifier"]: about, ...(sensitive ? { sensitive } : {}), ...kind.keys } });
}

function amount(name, path, value, scale, words) {
  return el("div", { class: "slider" }, el("span", { class: "symbol" }, ""), el("input", {
    type: "range", min: 0, max: 1000, value: Math.round(1000 * scale.from(value)), "aria-label": words, data: { focus: name },
    oninput: (event) => { const wanted = scale.to(event.target.value / 1000); event.target.parentNode.querySelector("output").value = wanted; slide({ do: "set", path, value: wanted }, `${name}-${began}`); },
    onchange: ended,
  }), el("output", {}, value), el("small", {}, words));
}

function leaving(publish) {
  const share = Number.parseFloat(publish["leave-out"] ?? "0");
  const path = ["publish", "leave-out"];
  return el("article", { class: "card" }, el("h2", {}, "Records left out"),
    el("div", { class: "slider" }, el("span", { class: "symbol" }, "%"), el("input", {
      type: "range", min: 0, max: 100, value: share * 10, "aria-label": "share of the records that may be left out", data: { focus: "leave-out" },
      oninput: (event) => {
        const wanted = `${event.target.value / 10}%`;
        event.target.parentNode.querySelector("output").value = wanted;
        slide(wanted === "0%" ? { do: "unset", path } : { do: "set", path, value: wanted }, `leave-${began}`);
      },
      onchange: ended,
    }), el("output", {}, percent(share / 100)), el("small", {}, "of the records (or persons, if a column says whose row it is) may be left out, so that all others are finer")));
}

function searching(publish) {
  const choice = (key, label, options, usual) => el("label", { class: "line" }, label, select(label, options, publish[key] ?? usual,
    (value) => edit(value === usual ? { do: "unset", path: ["publish", key] } : { do: "set", path: ["publish", key], value }), `publish-${key}`));
  return el("details", { class: "card" }, el("summary", {}, "How the search works"),
    choice("search", "search", [["joint", "joint"], ["paper", "the paper’s, step by step"]], "joint"),
    (publish.search ?? "joint") === "joint" && choice("recoding", "refine a value", [["local", "in each group by itself"], ["global", "everywhere"]], "local"),
    (publish.search ?? "joint") === "joint" && choice("goal", "keep information about", [["class", "the class"], ["statistics", "the masked attributes"]], "class"));
}

const typed = (text) => { const parts = text.split(",").map((part) => part.trim()).filter(Boolean); return text.trim() === "" ? null : Number.isFinite(Number(text)) ? Number(text) : parts.length > 1 || !/^(month|quarter|year)$/.test(text) ? parts : text; };
export const written = (value) => (Array.isArray(value) ? value.join(", ") : value ?? "");

export function steer(name, key, hint) {
  return el("input", {
    type: "text", value: written(sectionOf(name)[key]), placeholder: hint, "aria-label": `${key} of ${name}`, data: { focus: `${key}-${name}` },
    onchange: (event) => { const value = typed(event.target.value); const path = ["attributes", name, key]; edit(value === null ? { do: "unset", path } : { do: "set", path, value }); },
  });
}

function steering() {
  const masked = new Set((app.state.content.require ?? []).flatMap((item) => namedBy(item) ?? []));
  const scale = LOG(0.1, 10, 1);
  return el("details", { class: "card", open: attributesOf().some(({ name }) => ["weight", "keep", "finest"].some((key) => sectionOf(name)[key] !== undefined)) },
    el("summary", {}, "Steer single attributes"),
    el("table", { class: "steering" }, el("thead", {}, el("tr", {}, ["attribute", "weight", "must keep", "no finer than"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, attributesOf().filter(({ name }) => masked.has(name)).map(({ name }) => {
        const hint = { number: "a step", date: "month" }[kindOf(name)] ?? (sectionOf(name).taxonomy ? "a depth" : "values");
        const path = ["attributes", name, "weight"];
        const weight = sectionOf(name).weight ?? 1;
        return el("tr", {}, el("th", { scope: "row", title: name }, short(name, 18)),
          el("td", {}, el("input", {
            type: "range", min: 0, max: 1000, value: Math.round(1000 * scale.from(weight)), "aria-label": `weight of ${name}`, data: { focus: `weight-${name}` },
            oninput: (event) => { const value = scale.to(event.target.value / 1000); slide(value === 1 ? { do: "unset", path } : { do: "set", path, value }, `weight-${name}-${began}`); },
            onchange: ended,
          }), el("small", {}, `× ${weight}`)),
          el("td", {}, steer(name, "keep", hint)),
          el("td", {}, hint !== "values" && steer(name, "finest", hint)));
      }))));
}
