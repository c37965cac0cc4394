// Elements from values. Text is always set as text, so a label of the table can never become markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("aria-")) node.setAttribute(name, String(value));
    else if (value === false && !(name in node)) continue;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (["value", "checked", "selected", "disabled", "hidden", "draggable"].includes(name)) node[name] = value;
    else if (value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

export function show(place, ...children) {
  const active = document.activeElement;
  const focus = active && place.contains(active) ? active.dataset.focus : null;
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
  // What had the focus before it was drawn anew has it again.
  if (focus) place.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
}

const NUMBERS = new Intl.NumberFormat("en");
export const count = (value) => NUMBERS.format(Math.round(value));
export const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)}%`;
export const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;
export const short = (text, most = 28) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function select(label, options, value, change, focus) {
  const items = options.map(([key, text]) => el("option", { value: key, selected: key === value }, text));
  return el("select", { "aria-label": label, data: { focus }, onchange: (event) => change(event.target.value) }, items);
}

export function bars(values, { width = 120, height = 30, label = "" } = {}) {
  const most = Math.max(1, ...values);
  const step = width / Math.max(1, values.length);
  const drawn = values.map((value, place) => {
    const tall = value ? Math.max(1.5, (height * value) / most) : 0;
    return svg("rect", { x: place * step + 0.5, y: height - tall, width: Math.max(1, step - 1), height: tall });
  });
  return svg("svg", { class: "bars", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, drawn);
}

export async function copy(text, button) {
  await navigator.clipboard.writeText(text);
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1200);
}
