// Part 2: trees for categories, drawn by hand or drafted; round steps for numbers and dates.

import { app, asked, edit, take } from "./app.js";
import { attributesOf, kindOf, sectionOf } from "./table.js";
import { steer } from "./requirements.js";
import { byId, count, el, plural, select, short, show } from "./dom.js";

const WAYS = [["", "what fits best"], ["prefix", "common prefixes"], ["dates", "dates"], ["numbers", "numbers"], ["bands", "bands"], ["countries", "countries"], ["frequency", "frequency"]];
const MOST = 400;
const editor = { column: null, number: null, tree: null, observed: null, drawn: false, name: "", chosen: new Set(), current: null, dragged: null };
let way = "";
let waiting = 0; // changes of the tree that the server has not taken yet
let saved = Promise.resolve();

export function drawTaxonomies() {
  const columns = attributesOf();
  if (!columns.some(({ name }) => name === app.column)) app.column = columns.find(({ name }) => kindOf(name) === "category")?.name ?? columns[0]?.name;
  const place = byId("editor") ?? el("div", { id: "editor" }); // stays as it is until there is something else to show
  show(byId("taxonomies"),
    el("h1", {}, "Taxonomies and steps"),
    el("div", { class: "sides" },
      el("ul", { class: "names", "aria-label": "attributes" }, columns.map(({ name, distinct }) => el("li", {}, el("button", {
        type: "button", "aria-current": name === app.column, title: name, data: { focus: `column-${name}` }, onclick: () => { app.column = name; drawTaxonomies(); },
      }, short(name, 26), el("small", {}, kindOf(name) === "category" ? (sectionOf(name).taxonomy ? "tree" : plural(distinct, "value")) : kindOf(name)))))),
      place));
  if (!app.column) return;
  if (kindOf(app.column) === "category") load();
  else drawSteps();
}

// What the owner changes meanwhile is newer than an answer of the server.
async function load() {
  if (editor.column === app.column && (waiting || editor.number === app.state.number)) { drawTree(); return; }
  const [column, { number }] = [app.column, app.state];
  const found = await asked("tree", { column });
  if (!found || column !== app.column || (waiting && editor.column === column)) return;
  if (editor.column !== column) { editor.chosen.clear(); editor.name = ""; editor.current = null; }
  Object.assign(editor, found, { column, number });
  drawTree();
}

// One change after the other: the server could take a later one first.
function save() {
  const wanted = { do: "taxonomy", column: editor.column, tree: structuredClone(editor.tree), observed: editor.observed };
  waiting += 1;
  saved = saved.catch(() => {}).then(() => edit(wanted)).finally(() => {
    waiting -= 1;
    if (waiting) return;
    editor.number = null;
    if (app.part === "taxonomies" && kindOf(app.column) === "category") load();
  });
}

function find(label, node = editor.tree, above = null) {
  if (node.label === label) return { node, above };
  for (const child of node.children) { const found = find(label, child, node); if (found) return found; }
  return null;
}

const isBelow = (label, node) => node.label === label || node.children.some((child) => isBelow(label, child));
const labels = (node = editor.tree) => [node.label, ...node.children.flatMap((child) => labels(child))];
const groupsOf = (node = editor.tree) => (node.children.length ? [node.label, ...node.children.flatMap((child) => groupsOf(child))] : []);

// Groups that hold nothing are gone.
function pruned(node, keep) {
  node.children = node.children.map((child) => pruned(child, keep)).filter((child) => child.children.length || keep.has(child.label));
  return node;
}

function change(act) {
  const leaves = new Set(labels().filter((label) => !find(label).node.children.length));
  act();
  pruned(editor.tree, leaves);
  editor.drawn = true;
  save();
}

function move(names, target) {
  change(() => {
    const to = find(target).node;
    for (const name of names) {
      const { node, above } = find(name);
      if (!above || above === to || isBelow(target, node)) continue;
      above.children = above.children.filter((child) => child !== node);
      to.children.push(node);
    }
  });
}

// A new group where the first chosen one is; what is chosen goes into it.
function group() {
  const name = editor.name.trim();
  const chosen = [...editor.chosen].filter((label) => find(label)?.above);
  if (!name || !chosen.length || labels().includes(name)) return;
  change(() => {
    const { above, node } = find(chosen[0]);
    const made = { label: name, children: [] };
    above.children.splice(above.children.indexOf(node), 0, made);
    for (const label of chosen) {
      const found = find(label);
      if (isBelow(name, found.node)) continue;
      found.above.children = found.above.children.filter((child) => child !== found.node);
      made.children.push(found.node);
    }
  });
  editor.chosen.clear();
  editor.name = "";
}

// A group is split: what it holds moves up.
function split() {
  change(() => {
    for (const label of editor.chosen) {
      const found = find(label);
      if (!found?.above || !found.node.children.length) continue;
      found.above.children.splice(found.above.children.indexOf(found.node), 1, ...found.node.children);
    }
  });
  editor.chosen.clear();
}

// Groups are merged into the first of them.
function merge() {
  const [first, ...others] = [...editor.chosen].filter((label) => find(label)?.above && find(label).node.children.length);
  if (!first) return;
  change(() => {
    const into = find(first).node;
    for (const label of others) {
      const { node, above } = find(label);
      if (isBelow(first, node) || isBelow(label, into)) continue;
      above.children = above.children.filter((child) => child !== node);
      into.children.push(...node.children);
    }
  });
  editor.chosen.clear();
}

function rename() {
  const name = editor.name.trim();
  const [label] = editor.chosen;
  const found = label === undefined ? null : find(label);
  if (!name || !found || !found.node.children.length || labels().includes(name)) return;
  found.node.label = name;
  editor.chosen.clear();
  editor.name = "";
  editor.drawn = true;
  save();
}

function drawTree() {
  const place = byId("editor");
  if (!place) return;
  const total = labels().length;
  const release = app.picture?.attributes?.find((item) => item.name === editor.column);
  const button = (text, act, more = {}) => el("button", { type: "button", onclick: act, data: { focus: `act-${text}` }, ...more }, text);
  show(place,
    el("div", { class: "row" }, el("h2", { title: editor.column }, short(editor.column, 40)),
      el("label", {}, "Draft by ", select("way to draft", WAYS, way, (value) => { way = value; }, "way")), button("Draft", draft),
      el("label", { class: "file" }, "Import…", el("input", { type: "file", accept: ".csv,.tree,.hchy,.txt", "aria-label": "import a taxonomy: ARX csv, .tree or .hchy", onchange: (event) => imported(event.target.files[0]) })),
      sectionOf(editor.column).taxonomy && button("Remove the taxonomy", () => edit({ do: "taxonomy", column: editor.column, tree: null }), { class: "quiet" })),
    el("p", { class: "note" }, editor.drawn ? `${plural(total, "label")}${release ? `; the release shows ${plural(release.labels ?? 0, "label")} of it` : ""}. ` : "No taxonomy yet: values are shown or hidden one by one. Choose values and group them, or draft a tree. ",
      "Drag onto a group, or choose with Space and use the buttons."),
    el("div", { class: "row tools" }, el("input", { type: "text", id: "group-name", placeholder: "name of the group", "aria-label": "name of the group", value: editor.name, oninput: (event) => { editor.name = event.target.value; }, data: { focus: "group-name" } }),
      button("Group", group), button("Rename", rename), button("Split", split), button("Merge", merge),
      select("move to", [["", "Move to…"], ...groupsOf().slice(0, 200).map((label) => [label, short(label, 40)])], "", (target) => target && move([...editor.chosen], target), "move")),
    editor.drawn && el("label", { class: "tick" }, el("input", { type: "checkbox", checked: editor.observed === null, onchange: (event) => { editor.observed = event.target.checked ? null : "drawn from the data"; save(); } }),
      "These values are public (differential privacy needs that)."),
    total > MOST ? el("p", { class: "warn" }, `${count(total)} labels are too many to draw; draft, or import a file.`)
      : el("ul", { class: "editor", role: "tree", "aria-label": `taxonomy of ${editor.column}`, "aria-multiselectable": true, onkeydown: keys }, branch(editor.tree, 1)));
}

function branch(node, depth) {
  const inner = node.children.length > 0;
  const item = el("div", {
    class: inner ? "node group" : "node", draggable: depth > 1, tabindex: editor.current === node.label || (editor.current === null && depth === 1) ? 0 : -1,
    role: "treeitem", "aria-level": depth, "aria-selected": editor.chosen.has(node.label), "aria-expanded": inner ? true : undefined,
    data: { label: node.label, focus: `node-${node.label}` },
    onclick: (event) => choose(node.label, event.ctrlKey || event.metaKey || event.shiftKey),
    ondragstart: (event) => { editor.dragged = editor.chosen.has(node.label) ? [...editor.chosen] : [node.label]; event.dataTransfer.setData("text/plain", node.label); event.dataTransfer.effectAllowed = "move"; },
    ondragover: (event) => { if (inner) { event.preventDefault(); event.currentTarget.classList.add("over"); } },
    ondragleave: (event) => event.currentTarget.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); if (inner && editor.dragged) move(editor.dragged, node.label); editor.dragged = null; },
  }, short(node.label, 60), inner && el("small", {}, count(labels(node).length - 1)));
  return el("li", { role: "none" }, item, inner && el("ul", { role: "group" }, node.children.map((child) => branch(child, depth + 1))));
}

function choose(label, more) {
  const had = editor.chosen.has(label);
  if (!more) editor.chosen.clear();
  if (had) editor.chosen.delete(label); else editor.chosen.add(label);
  editor.current = label;
  drawTree();
  byId("editor").querySelector(`[data-label="${CSS.escape(label)}"]`)?.focus({ preventScroll: true });
}

function keys(event) {
  const items = [...event.currentTarget.querySelectorAll("[role=treeitem]")];
  const place = items.indexOf(document.activeElement);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: items.length - 1 }[event.key];
  if (next !== undefined && items[next]) {
    event.preventDefault();
    editor.current = items[next].dataset.label;
    items[place]?.setAttribute("tabindex", -1);
    items[next].setAttribute("tabindex", 0);
    items[next].focus();
  } else if (event.key === " " && place >= 0) { event.preventDefault(); choose(items[place].dataset.label, true); }
  else if (event.key === "Delete") { event.preventDefault(); split(); }
}

async function draft() {
  const state = await asked("draft", { column: editor.column, by: way || null });
  if (state) { take(state); byId("status").textContent = state.reason; }
}

async function imported(file) {
  if (!file) return;
  const state = await asked("load", { column: editor.column, name: file.name, text: await file.text() });
  if (state) take(state);
}

function drawSteps() {
  const name = app.column;
  const section = sectionOf(name);
  const date = kindOf(name) === "date";
  const bound = (place, hint) => el("input", {
    type: date ? "date" : "number", value: section.range?.[place] ?? "", "aria-label": hint, step: "any", data: { focus: `range-${place}-${name}` },
    onchange: () => {
      const [lo, hi] = [...byId("editor").querySelectorAll(".range input")].map((input) => input.value);
      if (lo !== "" && hi !== "") edit({ do: "set", path: ["attributes", name, "range"], value: date ? [lo, hi] : [Number(lo), Number(hi)] });
    },
  });
  show(byId("editor"), el("h2", {}, short(name, 40)),
    el("p", { class: "note" }, "A number is cut into intervals at round bounds. Say how round."),
    el("p", { class: "line range" }, "Range, from ", bound(0, "from"), " to below ", bound(1, "to"),
      !section.range && el("button", { type: "button", onclick: () => edit({ do: "declare", column: name }) }, "Take what is observed, widened")),
    el("p", { class: "line" }, "No finer than steps of ", steer(name, "finest", date ? "month, quarter, year or days" : "5")),
    el("p", { class: "line" }, "At least as fine as steps of ", steer(name, "keep", date ? "year" : "20")),
    !date && el("label", { class: "tick" }, el("input", { type: "checkbox", checked: section.whole === true, onchange: (event) => edit(event.target.checked ? { do: "set", path: ["attributes", name, "whole"], value: true } : { do: "unset", path: ["attributes", name, "whole"] }) }), "whole numbers only"));
}
