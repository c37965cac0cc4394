// Part 4: the release as it would be. Drawn from a picture that the server sends after every change.

import { app, asked } from "./app.js";
import { byId, count, el, percent, plural, short, show, svg } from "./dom.js";

const WIDTH = 320;

export function drawRelease() {
  const { picture } = app;
  const place = byId("release");
  if (!picture || picture.problem) {
    show(place, el("h1", {}, "The release"), el("p", { class: "note" }, picture?.problem ? "There is no release to draw." : "Searching…"));
    return;
  }
  if (picture.withheld) {
    show(place, el("h1", {}, "The release"), el("p", { class: "promise" }, picture.guarantee),
      el("p", { class: "owner" }, "Nothing is drawn from the private table. Under “Requirements” you can turn previews on, for your eyes only."));
    return;
  }
  if (!byId("cuts")) {
    show(place, el("h1", {}, "The release as it would be"), el("p", { class: "promise", id: "promise" }),
      el("p", { class: "owner", id: "seeded", hidden: true }, "A preview for the owner’s eyes, not private: it is drawn from a seed and never handed out. Publishing draws anew and charges the ledger."),
      el("div", { id: "cuts", class: "cuts" }),
      el("div", { class: "pair" }, el("article", { class: "card", id: "groups" }), el("article", { class: "card", id: "worth" })),
      el("article", { class: "card", id: "risks" }),
      el("article", { class: "card", id: "examples" }),
      el("article", { class: "card", id: "comparison" }), el("article", { class: "card", id: "reasons" }), el("article", { class: "card", id: "evaluation" }));
    drawReasons(); drawComparison(); drawEvaluation(); drawFigures();
  }
  byId("promise").textContent = picture.guarantee;
  byId("seeded").hidden = !picture.private;
  const masked = picture.attributes.filter((item) => item.masking !== "released");
  const free = picture.attributes.filter((item) => item.masking === "released");
  show(byId("cuts"), masked.map(cut), free.length > 0 && el("article", { class: "cut free" }, el("h3", {}, "Released as they are"), el("p", {}, free.map((item) => item.name).join(", "))));
  show(byId("groups"), el("h2", {}, "Group sizes"), picture.groups.length ? picture.groups.map(groups) : el("p", { class: "note" }, `${count(picture.released)} cells with noisy counts; there are no groups.`));
  show(byId("examples"), examples(picture.examples));
  if (!byId("comparison").contains(document.activeElement)) drawComparison();
  for (const id of ["worth", "risks"]) byId(id).classList.toggle("old", app.figures?.of !== picture.of);
  for (const id of ["comparison", "reasons", "evaluation"]) byId(id).classList.toggle("stale", (app[id]?.of ?? picture.of) !== picture.of);
}

function cut(item) {
  const shown = item.line ? line(item) : item.tree ? tree(item) : values(item);
  const words = item.labels <= 1 ? "one label: nothing is shown" : plural(item.labels, item.line ? "interval" : "label");
  return el("article", { class: "cut", data: { attribute: item.name } },
    el("h3", { title: item.name }, short(item.name, 26), el("small", {}, item.local && item.labels > 1 ? `${words}, by group` : words)), shown);
}

// Raw numbers as bars; above them each interval, darker the more records hold it.
function line({ name, line: { lo, hi, blocks, bars, others, missing }, records, unit }) {
  const x = (value) => ((value - lo) / (hi - lo)) * WIDTH;
  const lanes = [];
  const placed = blocks.map((block) => {
    let lane = lanes.findIndex((end) => end <= block.lo);
    if (lane < 0) lane = lanes.push(0) - 1;
    lanes[lane] = block.hi;
    return [block, lane];
  });
  const tall = Math.max(5, Math.min(14, 90 / Math.max(1, lanes.length)));
  const top = lanes.length * (tall + 1);
  const most = Math.max(1, ...bars);
  const heaviest = Math.max(...blocks.map((block) => block.records), 1);
  const text = (value) => (unit === "date" ? new Date(value * 864e5).toISOString().slice(0, 10) : count(value));
  return el("div", {},
    svg("svg", { viewBox: `0 0 ${WIDTH} ${top + 44}`, role: "img", "aria-label": `${name}: ${blocks.map((block) => block.label).slice(0, 12).join(", ")}` },
      placed.map(([block, lane]) => svg("rect", {
        class: "interval", x: x(block.lo) + 0.5, y: lane * (tall + 1), width: Math.max(1, x(block.hi) - x(block.lo) - 1), height: tall, rx: 2,
        "fill-opacity": 0.18 + 0.82 * Math.sqrt(block.records / heaviest),
      }, svg("title", {}, `${block.label}: ${count(block.records)} records (${percent(block.records / records)})`))),
      bars.map((value, place) => svg("rect", { class: "raw", x: (place * WIDTH) / bars.length, y: top + 28 - (26 * value) / most, width: WIDTH / bars.length - 0.6, height: (26 * value) / most })),
      svg("line", { class: "axis", x1: 0, x2: WIDTH, y1: top + 28.5, y2: top + 28.5 }),
      svg("text", { x: 0, y: top + 41 }, text(lo)), svg("text", { x: WIDTH, y: top + 41, "text-anchor": "end" }, text(hi))),
    (others > 0 || missing > 0) && el("p", { class: "note" }, [others > 0 && `and ${plural(others, "interval")} more`, missing > 0 && `${count(missing)} records without a value`].filter(Boolean).join("; ")));
}

// The taxonomy down to the cut: a filled bar is the share of the records that are released as this label.
function tree({ tree: root, records }) {
  const rows = [];
  const walk = (node, depth) => {
    rows.push([node, depth]);
    for (const child of node.children ?? []) walk(child, depth + 1);
    if (node.more) rows.push([{ label: `and ${node.more} more`, raw: 0, released: 0 }, depth + 1]);
  };
  walk(root, 0);
  return el("ul", { class: "tree" }, rows.slice(0, 40).map(([node, depth]) => {
    const row = el("li", { class: node.released ? "on" : "above" },
      el("span", { class: "label", title: node.label }, short(node.label, 30), node.released > 0 && node.leaves > 1 && el("small", {}, plural(node.leaves, "value"))),
      el("span", { class: "track" }, fill(node.released / records)),
      el("small", {}, node.released ? percent(node.released / records) : ""));
    row.style.paddingInlineStart = `${depth * 14}px`;
    return row;
  }), rows.length > 40 && el("li", { class: "above" }, `and ${rows.length - 40} more`));
}

function values({ values: { shown, hidden, domain }, records, local }) {
  const entries = [...shown.slice(0, 14).map((item) => [item.label, item.records]), ...(hidden ? [["⊥ hidden", hidden]] : [])];
  return el("ul", { class: "tree" }, entries.map(([label, held]) => el("li", { class: label === "⊥ hidden" ? "hidden-value" : "on" },
    el("span", { class: "label", title: label }, short(label, 30)), el("span", { class: "track" }, fill(held / records)), el("small", {}, percent(held / records)))),
  el("li", { class: "above" }, `${shown.length} of ${plural(domain, "value")} shown${local ? " in some group" : ""}`));
}

function fill(share) {
  const bar = el("i", {});
  bar.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return bar;
}

function groups({ names, unit, groups: many, smallest, median, largest, classes }) {
  return el("div", { class: "sizes" }, el("p", { class: "note", title: names.join(", ") }, `${plural(many, "group")} on ${short(names.join(", "), 60)}: smallest ${plural(smallest, unit)}, middle ${count(median)}, largest ${count(largest)}`),
    el("ul", { class: "spread" }, classes.map(({ text, share }) => el("li", {}, el("span", {}, text), el("span", { class: "track" }, fill(share)), el("small", {}, percent(share))))));
}

function examples({ names, raw, released }) {
  return [el("h2", {}, "Some rows, raw → released"), el("div", { class: "wide" }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col", title: name }, short(name, 16))))),
    el("tbody", {}, raw.map((row, place) => el("tr", {}, row.map((value, column) => {
      const now = released[place][column];
      return el("td", { class: now === value ? "same" : "masked" }, now === value ? value : [el("s", {}, short(value, 22)), el("span", {}, short(now, 26))]);
    })))))), el("p", { class: "note" }, "Raw values are for your eyes. A record that is left out is shown as it would be masked.")];
}

const SETTINGS = { raw: "raw rows", released: "the release", removed: "sensitive columns removed", masked: "everything masked" };

function scoresOf(scores) {
  return el("table", { class: "scores" }, el("thead", {}, el("tr", {}, ["learned from", "accuracy", "", "AUC"].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, Object.keys(SETTINGS).filter((name) => scores[name]).map((name) => el("tr", { class: name },
      el("th", { scope: "row" }, SETTINGS[name]), el("td", {}, percent(scores[name].accuracy)),
      el("td", { class: "track" }, fill(scores[name].accuracy)), el("td", {}, scores[name].auc == null ? "" : scores[name].auc.toFixed(3))))));
}

export function drawFigures() {
  const { figures } = app;
  if (!byId("worth") || !figures) return;
  for (const id of ["worth", "risks"]) byId(id).classList.toggle("old", figures.of !== app.picture?.of);
  show(byId("worth"), el("h2", {}, "What a classifier keeps"), figures.fit ? [scoresOf(figures.fit.scores),
    el("p", { class: "note" }, `A quick tree: ${count(figures.fit.train)} rows to learn from, ${count(figures.fit.test)} to be tested on, masked together.`)] : el("p", { class: "note" }, "There are too few rows for a quick fit."));
  const found = figures.measures;
  show(byId("risks"), el("h2", {}, "Risk and detail"), found ? [
    found.risks.map((risk) => el("p", {}, el("b", {}, percent(risk.highest)), ` is the highest chance to pick the right record of somebody known by ${short(risk.names.join(", "), 70)}; ${percent(risk.average, 2)} on average.`)),
    el("p", {}, el("b", {}, percent(found.whole_row.uniques / found.whole_row.records)), " of the records are alone on all released columns together, which no requirement bounds."),
    el("dl", { class: "measures" }, found.measures.map((item) => el("div", { title: item.words }, el("dt", {}, item.name), el("dd", {}, item.figure)))),
  ] : el("p", { class: "note" }, "Noisy counts have no records to trace."));
}

export function drawReasons() {
  const place = byId("reasons");
  if (!place) return;
  const found = app.reasons?.reasons;
  const price = (item) => `k = ${count(item.price.k)} would give more of ${item.attribute}: ${percent(item.price.before)} → ${percent(item.price.after)} kept`;
  show(place, el("h2", {}, "What each attribute waits for"),
    el("button", { type: "button", data: { focus: "explain" }, onclick: () => asked("explain") }, "Explain and price"),
    found && el("ul", { class: "reasons" }, found.map((item) => el("li", {}, item.price && el("b", { class: "price" }, price(item)), el("span", {}, item.why)))),
    found?.length === 0 && el("p", { class: "note" }, "unveil explain says where the budget of a private release goes."));
}

export function drawComparison() {
  const place = byId("comparison");
  if (!place) return;
  const requirement = (app.state.content.require ?? []).find((item) => item.epsilon !== undefined || item.k !== undefined);
  const key = requirement?.epsilon !== undefined ? "epsilon" : "k";
  const now = requirement?.[key] ?? 10;
  const around = key === "k" ? [Math.max(2, Math.round(now / 2)), now, now * 2] : [now / 2, now, now * 2];
  const input = el("input", { type: "text", value: app.compared ?? around.join(", "), "aria-label": `three values of ${key}`, data: { focus: "compare-values" }, onchange: (event) => { app.compared = event.target.value; } });
  const run = () => asked("compare", { key, values: input.value.split(",").map(Number).filter((value) => value > 0).slice(0, 3) });
  const found = app.comparison?.found ?? [];
  show(place, el("h2", {}, "Next to each other"), el("div", { class: "row" }, el("label", {}, `${key === "k" ? "k" : "ε"} = `, input), el("button", { type: "button", data: { focus: "compare" }, onclick: run }, "Compare")),
    found.length > 0 && el("div", { class: "three" }, found.map(side)));
}

function side(item) {
  if (item.problem) return el("section", {}, el("h3", {}, item.asks), el("p", { class: "warn" }, item.problem));
  const most = Math.max(1, ...Object.values(item.labels));
  return el("section", {}, el("h3", {}, item.asks),
    item.measures && el("p", {}, el("b", {}, percent(item.measures.kept)), " of the detail kept"),
    item.fit && scoresOf({ released: item.fit.scores.released, raw: item.fit.scores.raw }),
    el("ul", { class: "spread" }, Object.entries(item.labels).map(([name, labels]) => el("li", {}, el("span", { title: name }, short(name, 18)), el("span", { class: "track" }, fill(labels / most)), el("small", {}, plural(labels, "label"))))));
}

export function drawEvaluation() {
  const place = byId("evaluation");
  if (!place) return;
  const found = app.evaluation;
  show(place, el("h2", {}, "Full evaluation"), el("button", { type: "button", data: { focus: "evaluate" }, onclick: () => asked("evaluate") }, "Evaluate in the background"),
    found && [scoresOf(Object.fromEntries(found.lines.map((item) => [item.setting, item]))), el("p", { class: "note" }, `${found.protocol}. ${found.notes.join(" ")}`)]);
}
