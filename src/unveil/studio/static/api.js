// Requests to the server of this page. The token is in the part of the address that browsers keep to themselves.

const TOKEN = location.hash.slice(1);
let session = null;

async function ask(path, body) {
  const options = { method: body === undefined ? "GET" : "POST", headers: { "x-unveil-token": TOKEN } };
  if (body !== undefined) options.body = JSON.stringify({ session, ...body });
  const answer = await fetch(path, options);
  return answer;
}

export class Problem extends Error {}

async function content(answer) {
  if (answer.ok) return answer.json();
  const text = await answer.text();
  let problem = text;
  try { problem = JSON.parse(text).problem ?? text; } catch { /* a plain sentence */ }
  throw new Problem(problem);
}

export const start = async () => content(await ask("/api/start"));
export const post = async (name, body = {}) => content(await ask(`/api/${name}`, body));

export async function open(file) {
  ({ session } = await post("open", { file }));
}

export function close() {
  if (session === null) return;
  const headers = { "x-unveil-token": TOKEN };
  fetch("/api/close", { method: "POST", keepalive: true, headers, body: JSON.stringify({ session }) });
  session = null;
}

// Reads what the server sends until the tab is closed. A stream that breaks is opened again.
export async function listen(heard, lost) {
  for (let failures = 0; session !== null;) {
    try {
      const answer = await ask("/api/events", {});
      if (!answer.ok) throw new Problem((await answer.json()).problem);
      failures = 0;
      await each(answer.body.pipeThrough(new TextDecoderStream()).getReader(), heard);
    } catch (error) {
      failures += 1;
      if (error instanceof Problem || failures > 3) { lost(error instanceof Problem ? error.message : null); return; }
    }
    await new Promise((resolve) => setTimeout(resolve, 300 * failures));
  }
}

async function each(reader, heard) {
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const found = /^event: (.*)\ndata: (.*)$/s.exec(event);
      if (found) heard(found[1], JSON.parse(found[2]));
    }
  }
}
