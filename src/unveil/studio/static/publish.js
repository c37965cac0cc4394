// Part 5: what will be written, and what was.

import { app, asked, edit, loadCommands, tell } from "./app.js";
import { byId, copy, el, plural, show } from "./dom.js";

let confirmed = false;

export function drawPublish() {
  const { content, guesses, files, problem, spec } = app.state;
  app.to ??= "published";
  if (!app.commands) { app.commands = []; loadCommands(app.to); }
  const epsilon = (content.require ?? []).find((item) => item.kind === "differential-privacy")?.epsilon;
  const draft = content.draft === true;
  const ready = !problem && !draft && (epsilon === undefined || confirmed);
  show(byId("publish"),
    el("h1", {}, "Publish"),
    app.picture?.guarantee && el("p", { class: "promise" }, app.picture.guarantee),
    el("article", { class: "card" },
      el("h2", {}, "What is written"),
      el("label", { class: "line" }, "New folder", el("input", { type: "text", id: "folder", value: app.to, data: { focus: "folder" }, onchange: (event) => { app.to = event.target.value; loadCommands(app.to); } })),
      el("ul", {},
        files.map((name) => el("li", {}, el("code", {}, name), name === spec ? " — the spec" : " — a taxonomy")),
        el("li", {}, el("code", {}, `${app.to}/release`), " — the release, to hand out"),
        el("li", {}, el("code", {}, `${app.to}/report.html`), " — the page to hand out with it"),
        el("li", {}, el("code", {}, `${app.to}/report-private.html`), " — your own page; keep it")),
      draft && el("label", { class: "tick" }, el("input", { type: "checkbox", id: "read", onchange: () => edit({ do: "read" }) }),
        `I have read the spec and its guesses (${plural(guesses.length, "column")} still marked).`),
      epsilon !== undefined && el("label", { class: "tick owner" }, el("input", { type: "checkbox", id: "confirm", checked: confirmed, onchange: (event) => { confirmed = event.target.checked; drawPublish(); } }),
        `This costs ε = ${epsilon}. It is charged to the ledger before anything is drawn, and cannot be taken back.`),
      el("button", { type: "button", id: "go", class: "main", disabled: !ready, onclick: () => publish(epsilon) }, "Publish and verify")),
    el("div", { id: "published" }),
    el("article", { class: "card" }, el("h2", {}, "The same on the command line"), el("pre", {}, (app.commands ?? []).join("\n")),
      el("button", { type: "button", onclick: (event) => copy((app.commands ?? []).join("\n"), event.target) }, "Copy the commands")));
  drawPublished();
}

async function publish(epsilon) {
  app.published = null;
  drawPublished();
  document.body.classList.add("busy");
  tell("publishing…");
  if (!(await asked("publish", { to: app.to, epsilon: epsilon ?? null }))) document.body.classList.remove("busy");
}

export function drawPublished() {
  const place = byId("published");
  if (!place) return;
  const found = app.published;
  if (found) { document.body.classList.remove("busy"); confirmed = false; }
  show(place, found && el("article", { class: "card good", role: "status" },
    el("h2", {}, "✓ Published, and every claim verified"),
    el("p", {}, found.guarantee),
    el("p", {}, "In ", el("code", { id: "place" }, found.folder)),
    el("ul", { class: "written" }, found.files.map((name) => el("li", {}, el("code", {}, name)))),
    el("details", {}, el("summary", {}, "For you to judge"), el("ul", {}, found.notes.map((note) => el("li", {}, note))))));
}
