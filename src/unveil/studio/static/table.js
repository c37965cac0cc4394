// Part 1: the columns, what they hold and what they are for.

import { app, edit, go } from "./app.js";
import { bars, byId, count, el, percent, plural, select, short, show } from "./dom.js";

const ROLES = [["attribute", "attribute"], ["class", "class"], ["identifier", "identifier (dropped)"], ["person", "whose row it is"], ["weight", "records per row"], ["survey-weight", "weight of a survey"]];
const KINDS = [["number", "number"], ["date", "date"], ["category", "category"]];
const opened = new Set();

const names = (value) => (typeof value === "string" ? [value] : value ?? []);

export function roleOf(name) {
  const { table = {}, attributes = {} } = app.state.content;
  if (table.class === name) return "class";
  if (names(table.person).includes(name)) return "person";
  if (table.weight === name) return "weight";
  return attributes[name]?.role ?? (attributes[name] ? "attribute" : "none");
}

export const sectionOf = (name) => app.state.content.attributes?.[name] ?? {};
export const kindOf = (name) => sectionOf(name).kind ?? (sectionOf(name).labels || sectionOf(name).derive ? "category" : undefined);
export const attributesOf = () => app.table.columns.filter((column) => roleOf(column.name) === "attribute");
export const namedBy = (requirement) => requirement["quasi-identifier"] ?? requirement.channel;

export function drawTable() {
  const guesses = new Set(app.state.guesses);
  const warnings = [...(guesses.size ? app.table.warnings : []), ...app.warnings.map((text) => `${text}.`)];
  const scroll = byId("table").querySelector(".wide")?.scrollLeft ?? 0;
  show(byId("table"),
    el("div", { class: "headline" }, el("h1", {}, "Columns"),
      el("p", { class: "note" }, guesses.size
        ? `${plural(guesses.size, "column")} marked guess were read off the data. Check each: change it, or say that it is right.`
        : "Nothing here is a guess any more."),
      el("label", { class: "line" }, "Rows with a missing value", select("rows with a missing value",
        [["drop", "are dropped"], ["keep", "are kept: what is missing is a value"], ["refuse", "are refused"]], app.state.content.table?.missing?.rows ?? "refuse",
        (value) => edit({ do: "set", path: ["table", "missing", "rows"], value }), "missing-rows"))),
    warnings.length > 0 && el("details", { class: "warnings", open: true },
      el("summary", {}, plural(warnings.length, "warning")), el("ul", {}, warnings.map((text) => el("li", {}, text)))),
    el("div", { class: "wide" }, el("table", { class: "columns" },
      el("thead", {}, el("tr", {}, ["column", "distribution", "role", "kind", "others can know it", "distinct", "missing", "examples", ""].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, app.table.columns.flatMap((column) => rows(column, guesses.has(column.name)))))));
  byId("table").querySelector(".wide").scrollLeft = scroll;
}

function rows(column, guess) {
  const { name } = column;
  const role = roleOf(name);
  const open = opened.has(name);
  const toggle = () => { if (open) opened.delete(name); else opened.add(name); drawTable(); };
  const row = el("tr", { class: role, data: { column: name } },
    el("th", { scope: "row" }, el("span", { class: "name", title: name }, short(name)), " ",
      guess && el("span", { class: "badge guess", title: column.reason }, "guess"),
      column.risk && el("span", { class: "badge risk", title: column.risk }, "!")),
    el("td", {}, bars(column.bars.map((bar) => bar[1]), { label: `distribution of ${name}`, width: 110, height: 26 })),
    el("td", {}, select(`role of ${name}`, role === "none" ? [["none", "not described"], ...ROLES] : ROLES, role,
      (value) => edit({ do: "role", column: name, word: value }), `role-${name}`)),
    el("td", {}, role === "attribute" && select(`kind of ${name}`, KINDS, kindOf(name), (value) => edit({ do: "kind", column: name, word: value }), `kind-${name}`)),
    el("td", {}, role === "attribute" && knownBy(name)),
    el("td", { class: "number" }, count(column.distinct)),
    el("td", { class: column.missing ? "number some" : "number" }, column.missing ? `${count(column.missing)} (${percent(column.missing / app.table.rows, 0)})` : "0"),
    el("td", { class: "examples" }, short(column.values.slice(0, 3).map((value) => sectionOf(name).labels?.[value] ?? value).join(", "), 44)),
    el("td", {}, el("button", { type: "button", class: "quiet", "aria-expanded": open, data: { focus: `more-${name}` }, onclick: toggle, "aria-label": `more about ${name}` }, open ? "less" : "more")));
  return open ? [row, el("tr", { class: "more" }, el("td", { colspan: 9 }, details(column, role, guess)))] : [row];
}

function knownBy(name) {
  const requirements = app.state.content.require ?? [];
  return requirements.map((requirement, place) => namedBy(requirement) && el("label", { class: "tick", title: `in requirement ${place + 1}` },
    el("input", {
      type: "checkbox", checked: namedBy(requirement).includes(name), "aria-label": `others can know ${name}, requirement ${place + 1}`,
      data: { focus: `known-${name}-${place}` },
      onchange: (event) => edit({ do: "known", column: name, requirement: place, on: event.target.checked }),
    }), requirements.length > 1 ? place + 1 : ""));
}

function details(column, role, guess) {
  const { name } = column;
  return el("div", { class: "detail" },
    el("div", {},
      el("p", {}, el("b", {}, "init says: "), `${column.guess}, ${column.reason}.`, column.risk ? ` Look at: ${column.risk}.` : "", column.known ? ` Others can know it: ${column.known}.` : ""),
      column.person && el("p", { class: "warn" }, "It repeats: if it says whose row it is, people have several rows. Make it “whose row it is”, so that k counts persons."),
      column.survey && el("p", { class: "warn" }, "It looks like the weight of a survey: a row is one respondent, not many records."),
      guess && el("button", { type: "button", onclick: () => edit({ do: "declare", column: name, domain: {} }) }, "This is right"),
      role === "attribute" && domain(name),
      role === "attribute" && missing(name)),
    el("div", {}, largeBars(column), role === "attribute" && kindOf(name) === "category" && labels(column)));
}

function domain(name) {
  const section = sectionOf(name);
  const declared = section.range ?? section.values ?? section.labels ?? section.taxonomy;
  return el("p", {}, declared ? `Declared: ${section.range ? `[${section.range.join(", ")})` : section.taxonomy ? "by its taxonomy" : plural(Object.keys(section.values ?? section.labels).length, "value")}. ` : "Its domain is read off the data. ",
    !declared && el("button", { type: "button", onclick: () => edit({ do: "declare", column: name }) }, "Declare what is observed as public"),
    kindOf(name) === "category" && el("button", { type: "button", class: "quiet", onclick: () => { app.column = name; go("taxonomies"); } }, "Taxonomy…"));
}

function missing(name) {
  const section = sectionOf(name);
  const now = typeof section.missing === "string" ? section.missing : section.missing?.rows ?? "";
  const table = app.state.content.table?.missing?.rows ?? "refuse";
  return el("p", {}, "Rows without a value: ", select(`missing values of ${name}`,
    [["", `as the table says (${table})`], ["drop", "drop"], ["keep", "keep, as a value"], ["refuse", "refuse the table"]], now,
    (value) => edit(value ? { do: "set", path: ["attributes", name, "missing"], value } : { do: "unset", path: ["attributes", name, "missing"] })));
}

function largeBars(column) {
  const most = Math.max(1, ...column.bars.map((bar) => bar[1]));
  return el("ul", { class: "spread", "aria-label": `values of ${column.name}` }, column.bars.slice(0, 12).map(([label, rows]) => {
    const bar = el("i", {});
    bar.style.width = `${(100 * rows) / most}%`;
    return el("li", {}, el("span", { title: label }, short(column.ordered ? `from ${label}` : label || "(empty)", 24)), el("span", { class: "track" }, bar), el("small", {}, count(rows)));
  }));
}

function labels(column) {
  const held = sectionOf(column.name).labels;
  const values = column.values.slice(0, 60);
  const inputs = values.map((value) => el("input", { type: "text", value: typeof held === "object" ? held[value] ?? "" : "", placeholder: value, "aria-label": `name for ${value}`, data: { value } }));
  const save = () => {
    const names = Object.fromEntries(inputs.filter((input) => input.value).map((input) => [input.dataset.value, input.value]));
    const all = Object.keys(names).length ? Object.fromEntries(column.values.map((value) => [value, names[value] ?? `code ${value}`])) : {};
    edit({ do: "labels", column: column.name, names: all });
  };
  return el("details", { class: "labels", open: Boolean(held) }, el("summary", {}, "Names for coded values"),
    el("div", { class: "pairs" }, values.map((value, place) => el("label", {}, el("code", {}, value), inputs[place]))),
    column.distinct > values.length && el("p", { class: "note" }, `The ${count(values.length)} most frequent of ${count(column.distinct)} values.`),
    el("button", { type: "button", onclick: save }, "Use these names"));
}
