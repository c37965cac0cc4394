// The page: what it knows, what is shown, and the way from an act of the owner to an edit of the spec.

import * as api from "./api.js";
import { byId, copy, count, el, percent, plural, show } from "./dom.js";
import { drawTable } from "./table.js";
import { drawTaxonomies } from "./taxonomies.js";
import { drawRequirements } from "./requirements.js";
import { drawComparison, drawEvaluation, drawFigures, drawReasons, drawRelease } from "./release.js";
import { drawPublish, drawPublished } from "./publish.js";

export const app = { table: null, state: null, picture: null, figures: null, warnings: [], part: "table", column: null };
const SEARCHING = "searching…";
const PARTS = ["table", "taxonomies", "requirements", "release", "publish"];

export function tell(text) { byId("status").textContent = text; }

export function complain(text) {
  const place = byId("problem");
  place.textContent = text ?? "";
  place.hidden = !text;
}

export async function asked(name, body) {
  try {
    const answer = await api.post(name, body);
    return answer;
  } catch (error) {
    complain(error instanceof api.Problem ? error.message : "The server does not answer. Start unveil studio again.");
    return null;
  }
}

// An edit: the spec changes at once, and the release follows as soon as the search has ended.
export async function edit(operations, gesture = null, quiet = false) {
  const state = await asked("edit", { operations: [operations].flat(), gesture });
  if (state) take(state, quiet);
}

// The way of a slider: at most one edit is under way, and of those that wait only the last is sent. The part with the
// slider is drawn anew when the owner lets go of it.
const sliding = { busy: false, next: null };
export async function slide(operations, gesture) {
  sliding.next = [operations, gesture];
  if (sliding.busy) return;
  sliding.busy = true;
  while (sliding.next) {
    const [wanted, name] = sliding.next;
    sliding.next = null;
    await edit(wanted, name, true);
  }
  sliding.busy = false;
  if (sliding.settled) { sliding.settled = false; draw(); }
}
export function settle() {
  sliding.settled = sliding.busy;
  if (!sliding.busy) draw();
}

export function take(state, quiet = false) {
  if (app.state && state.number < app.state.number) return; // an older answer never replaces a newer one
  app.state = state;
  complain(state.problem);
  byId("undo").disabled = !state.undo;
  byId("redo").disabled = !state.redo;
  document.body.classList.toggle("waiting", state.problem === null);
  if (quiet) drawSpec();
  else draw();
}

const ANSWERS = {
  table(found) { app.table = found; byId("origin").textContent = `${found.origin} · ${plural(found.rows, "row")}`; },
  state(found) { tell(""); take(found); },
  problem(found) { complain(found.problem); tell(""); },
  failed(found) { complain(found.problem); tell(""); document.body.classList.remove("busy"); drawPublish(); },
  picture(found) {
    if (found.of < (app.picture?.of ?? 0)) return;
    app.picture = found;
    if (byId("status").textContent === SEARCHING) tell("");
    if (found.of === app.state?.number) document.body.classList.remove("waiting");
    if (found.problem) complain(found.problem);
    drawRelease();
    drawHead();
    if (app.part === "taxonomies") drawTaxonomies();
    document.body.dataset.shown = found.of;
  },
  figures(found) {
    if (found.of < (app.figures?.of ?? 0)) return;
    app.figures = found;
    drawFigures();
    drawHead();
  },
  warnings(found) { app.warnings = found.warnings; if (app.part === "table") drawTable(); },
  progress(found) {
    const share = found.total ? ` · ${Math.round((100 * found.done) / found.total)}%` : "";
    tell(found.task === "draw" ? "" : `${found.what}${share}`);
    if (found.task === "draw" && !app.picture) tell(SEARCHING);
  },
  evaluation(found) { tell(""); app.evaluation = found; drawEvaluation(); },
  reasons(found) { tell(""); app.reasons = found; drawReasons(); },
  comparison(found) { app.comparison = found; if (found.found.length === found.values.length) tell(""); drawComparison(); },
  published(found) { tell(""); app.published = found; drawPublished(); },
};

function figure(name, value, note, old = false) {
  return el("div", { class: old ? "old" : "" }, el("dt", {}, name), el("dd", {}, value, note && el("small", {}, note)));
}

function drawHead() {
  const { picture, figures } = app;
  if (!picture || picture.withheld || picture.problem) { show(byId("figures")); return; }
  const groups = picture.groups[0];
  const scores = figures?.fit?.scores;
  const old = figures?.of !== picture.of; // of the release before, until those of this one are there
  show(byId("figures"),
    groups && figure("smallest group", count(groups.smallest), ` of ${count(groups.groups)}`),
    figures?.measures && figure("detail kept", percent(figures.measures.kept), "", old),
    scores && figure("accuracy", percent(scores.released.accuracy), ` raw ${percent(scores.raw.accuracy)}`, old),
    scores?.released.auc != null && figure("AUC", scores.released.auc.toFixed(3), ` raw ${scores.raw.auc.toFixed(3)}`, old),
    figure("records", count(picture.records - picture.left_out), picture.left_out ? ` ${count(picture.left_out)} left out` : ""));
}

const DRAWN = { table: drawTable, taxonomies: drawTaxonomies, requirements: drawRequirements, publish: drawPublish };
function draw() {
  if (!app.table || !app.state) return;
  DRAWN[app.part]?.();
  drawSpec();
}

export function go(part) {
  app.part = part;
  document.body.dataset.part = part;
  for (const name of PARTS) {
    const tab = byId(`tab-${name}`);
    tab.setAttribute("aria-selected", name === part);
    tab.tabIndex = name === part ? 0 : -1;
    byId(name).hidden = !(name === part || (name === "release" && part === "requirements"));
  }
  draw();
}

function drawSpec() {
  const place = byId("spec");
  if (place.hidden) return;
  const text = el("textarea", { id: "toml", spellcheck: false, "aria-label": "The spec as TOML", value: app.state.text });
  show(place,
    el("h2", {}, app.state.spec),
    el("p", { class: "note" }, "What this page does is an edit of this spec. Comments stay. Nothing is written until you publish."),
    text,
    el("div", { class: "row" },
      el("button", { type: "button", onclick: (event) => copy(app.state.text, event.target) }, "Copy the spec"),
      el("button", { type: "button", onclick: () => edit({ do: "text", text: text.value }) }, "Apply the text")),
    el("h2", {}, "The same on the command line"),
    el("pre", { id: "commands" }, (app.commands ?? []).join("\n")),
    el("button", { type: "button", onclick: (event) => copy((app.commands ?? []).join("\n"), event.target) }, "Copy the commands"));
}

export async function loadCommands(to) {
  const found = await asked("commands", { to });
  if (!found) return;
  app.commands = found.commands;
  if (app.part === "publish") drawPublish();
  drawSpec();
}

function keys(event) {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox";
  if (typing || !(event.ctrlKey || event.metaKey)) return;
  if (event.key === "z" && !event.shiftKey) { event.preventDefault(); byId("undo").click(); }
  if (event.key === "y" || (event.key === "z" && event.shiftKey)) { event.preventDefault(); byId("redo").click(); }
}

function tabs(event) {
  const place = PARTS.indexOf(app.part);
  const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: PARTS.length - 1 }[event.key];
  if (next === undefined || !PARTS[next]) return;
  event.preventDefault();
  go(PARTS[next]);
  byId(`tab-${PARTS[next]}`).focus();
}

async function begin(file) {
  byId("start").hidden = true;
  tell(`reading ${file}…`);
  await api.open(file);
  api.listen((kind, found) => ANSWERS[kind]?.(found),
    (problem) => complain(problem ?? "The server has ended. Start unveil studio again; nothing half-written is left."));
}

async function main() {
  for (const name of PARTS) byId(`tab-${name}`).addEventListener("click", () => go(name));
  byId("parts").addEventListener("keydown", tabs);
  byId("undo").addEventListener("click", async () => { const state = await asked("undo"); if (state) take(state); });
  byId("redo").addEventListener("click", async () => { const state = await asked("redo"); if (state) take(state); });
  byId("spec-open").addEventListener("click", () => {
    const open = byId("spec").hidden;
    byId("spec").hidden = !open;
    byId("spec-open").setAttribute("aria-expanded", open);
    document.body.classList.toggle("with-spec", open);
    if (app.state) { drawSpec(); loadCommands(app.to ?? "published"); }
  });
  byId("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", keys);
  addEventListener("pagehide", api.close);
  try {
    const found = await api.start();
    if (found.file) { await begin(found.file); return; }
    byId("start").hidden = false;
    show(byId("start"), el("h1", {}, "Open a table or a spec"), el("p", { class: "note" }, found.folder),
      el("ul", { class: "files" }, found.files.map((name) => el("li", {}, el("button", { type: "button", onclick: () => begin(name) }, name)))),
      found.files.length === 0 && el("p", {}, "This folder has no csv, parquet or toml file."));
  } catch (error) {
    complain(error instanceof api.Problem ? error.message : "The server does not answer.");
  }
}

main();
