// What the network sends is untrusted: it reaches the page as text, and as a link only through `link`.

const MAX_QUESTION_CHARS = 2000;
const MAX_HISTORY_MESSAGES = 10;
const COUNTER_FROM_CHARS = 1800;
const BOTTOM_SLACK_PX = 8; // browsers round scroll positions

const HEADING = /^#{1,6}\s+/;
const FENCE = /^( *)(`{3,}|~{3,})\s*([^\s`]*)/;
const LIST_ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const INLINE = /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*| ?\[(\d{1,3})\](?!\()|\[([^\]]+)\]\(([^()\s]+)\)/gs;

const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((node) => [node.id, node]));
const turns = new Set();
// `randomUUID` exists on secure origins only, and a book served to the local network is not on one.
const sessionId = crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join("-");
let stopAnswer = null;
let followsNewest = true;

class AnswerError extends Error {}

const announce = (message) => (page.status.textContent = message);
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function make(tag, ...children) {
  const node = document.createElement(tag);
  node.dir = "auto";
  node.append(...children); // strings become text, never markup
  return node;
}

function link(url, text) {
  const anchor = make("a", text);
  anchor.href = url;
  return ["http:", "https:"].includes(anchor.protocol) ? anchor : make("span", text);
}

function copyOf(template) {
  const node = template.content.firstElementChild.cloneNode(true);
  return [node, (name) => node.querySelector(`.${name}`)];
}

// Light Markdown

function parseBlocks(text) {
  const blocks = [];
  let open = {};
  for (const line of text.split(/\r?\n/)) {
    const [, indent, fence, language] = FENCE.exec(line) ?? [];
    if (open.fence) {
      if (fence && line.trim() === open.fence) open = {};
      else open.lines.push(line.slice(Math.min(open.indent, line.search(/\S|$/))));
    } else if (fence) {
      blocks.push((open = { kind: "code", lines: [], language, fence, indent: indent.length }));
    } else if (!line.trim()) {
      if (open.kind !== "list") open = {};
    } else {
      const kind = HEADING.test(line) ? "heading" : LIST_ITEM.test(line) ? "list" : line.startsWith("|") ? "table" : "paragraph";
      const continuesItem = open.kind === "list" && /^\s{2}/.test(line);
      if (continuesItem || (kind === open.kind && kind !== "heading")) open.lines.push(line);
      else blocks.push((open = { kind, lines: [line] }));
    }
  }
  return blocks;
}

function buildBlock(turn, { kind, lines, language }) {
  if (kind === "list") return buildList(turn, lines);
  if (kind === "heading") return appendInline(turn, make("h3"), lines[0].replace(HEADING, ""));
  if (kind === "paragraph") return appendInline(turn, make("p"), lines.join("\n"));
  // A table is set like code: its columns stay in line.
  const [frame, part] = copyOf(page.code);
  const text = part("text");
  text.setAttribute("aria-label", kind === "table" ? "Table" : `Code ${language}`.trim());
  text.firstElementChild.textContent = lines.join("\n");
  part("copy").addEventListener("click", async () => {
    const copied = await navigator.clipboard?.writeText(text.textContent).then(() => true, () => false);
    if (!copied) getSelection().selectAllChildren(text);
    announce(copied ? "Copied." : "The code is selected; copy it with your keyboard.");
  });
  return frame;
}

function buildList(turn, lines) {
  const root = make("div");
  for (const line of lines) {
    const [, indent, number, text] = LIST_ITEM.exec(line) ?? [];
    if (text === undefined) {
      appendInline(turn, root.lastElementChild.lastElementChild, ` ${line.trim()}`);
      continue;
    }
    const tag = number ? "ol" : "ul";
    if (root.lastElementChild?.localName !== tag) root.append(make(tag));
    const item = appendInline(turn, make("li"), text);
    if (indent) item.className = "nested";
    if (number) item.value = number;
    root.lastElementChild.append(item);
  }
  return root;
}

function appendInline(turn, node, text) {
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, number, label, url] = match;
    node.append(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code) node.append(make("code", code));
    else if (strong) node.append(appendInline(turn, make("strong"), strong));
    else if (number) node.append(linkMarker(turn, make("span", whole), Number(number)));
    else node.append(link(url, label));
  }
  node.append(text.slice(end));
  return node;
}

function linkMarker(turn, marker, number) {
  marker.dataset.cites = number;
  const citation = turn.record.citations.find(({ n }) => n === number);
  if (!citation) return marker;
  const anchor = link(citation.url, number);
  anchor.title = citation.section || citation.title;
  anchor.setAttribute("aria-label", `Source ${number}`);
  marker.replaceChildren(make("sup", anchor));
  return marker;
}

// One turn: a question and what became of it

function addTurn(record) {
  const [article, part] = copyOf(page.turn);
  const turn = { record, article, part, blocks: [], frame: 0 };
  part("asked").textContent = record.question;
  part("retry").addEventListener("click", () => ask(record.question, turn));
  for (const button of part("feedback").children) button.addEventListener("click", () => rate(turn, button.value));
  turns.add(turn);
  page.turns.append(article);
  page.welcome.hidden = true;
  return turn;
}

function showText(turn) {
  const { text, outcome } = turn.record;
  cancelAnimationFrame(turn.frame);
  turn.frame = 0;
  // Half a marker would show as text for a moment before it becomes a link.
  const blocks = parseBlocks(outcome ? text : text.replace(/ ?\[\d*$/, ""));
  // Blocks that did not change keep their nodes, and with them the reader's selection and focus.
  turn.blocks.splice(blocks.length).forEach(({ node }) => node.remove());
  blocks.forEach((block, position) => {
    const key = JSON.stringify(block);
    if (turn.blocks[position]?.key === key) return;
    const node = buildBlock(turn, block);
    turn.blocks[position]?.node.remove();
    turn.part("answer").insertBefore(node, turn.blocks[position + 1]?.node ?? null);
    turn.blocks[position] = { key, node };
  });
  turn.part("waiting").hidden = Boolean(outcome) || blocks.length > 0;
  showNewest();
}

function showCitation(turn, { n, url, section, title, chapter, source, start_line, end_line, quote, supported }) {
  for (const marker of turn.article.querySelectorAll(`[data-cites="${Number(n)}"]`)) linkMarker(turn, marker, n);
  const [item, part] = copyOf(page.source);
  item.value = n;
  part("name").append(link(url, section || title || source));
  part("doubt").hidden = supported !== false;
  part("place").textContent = [...new Set([chapter, title])].filter((name) => name && name !== section).join(" · ");
  part("file").textContent = `${source}, ${start_line === end_line ? `line ${end_line}` : `lines ${start_line}–${end_line}`}`;
  part("quote").textContent = quote;
  const list = turn.part("source-list");
  const next = [...list.children].find(({ value }) => value >= n);
  list.insertBefore(item, next ?? null);
  if (next?.value === n) next.remove();
  turn.part("sources").hidden = false;
  showNewest();
}

function showOutcome(turn) {
  const { outcome, citations, rating } = turn.record;
  turn.article.removeAttribute("aria-busy");
  showText(turn);
  const nearest = (outcome.nearest ?? []).map(({ title, url }) => make("li", link(url, title || url)));
  turn.part("nearest-list").append(...nearest);
  turn.part("nearest").hidden = nearest.length === 0;
  turn.part("problem").hidden = !outcome.problem;
  turn.part("problem-text").textContent = outcome.problem;
  turn.part("feedback").hidden = !outcome.messageId;
  showRating(turn, rating);
  showNewest();
  if (outcome.nearest) return `Not in the book, ${count(nearest.length, "lesson")} nearby`;
  return outcome.problem ?? `Answer complete, ${count(citations.length, "source")}`;
}

function showRating(turn, rating) {
  turn.record.rating = rating;
  for (const button of turn.part("feedback").children) button.setAttribute("aria-pressed", button.value === rating);
}

async function rate(turn, rating) {
  const { outcome, rating: previous } = turn.record;
  showRating(turn, rating);
  const vote = { message_id: outcome.messageId, rating };
  const response = await post("/api/v1/feedback", "application/json", vote).catch(() => null);
  if (!response?.ok) showRating(turn, previous);
  keepTurns();
  announce(response?.ok ? "Thank you, your rating is noted." : "Your rating could not be sent.");
}

// The server

function post(path, accept, body, signal) {
  const headers = { "Content-Type": "application/json", Accept: accept };
  return fetch(path, { method: "POST", headers, signal, body: JSON.stringify(body) });
}

async function* serverEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split(/\r?\n\r?\n/);
    rest = events.pop();
    for (const event of events) {
      const field = (name) => [...event.matchAll(new RegExp(`^${name}: ?(.*)`, "gm"))].map(([, text]) => text).join("\n");
      if (field("data")) yield [field("event"), JSON.parse(field("data"))];
    }
  }
}

async function streamAnswer(turn, signal) {
  const { record } = turn;
  const request = { query: record.question, mode: "global_book", session_id: sessionId, history: historyBefore(turn) };
  const response = await post("/api/v1/chat", "text/event-stream", request, signal);
  if (!response.ok) {
    const { error } = await response.json().catch(() => ({}));
    const message = error?.message || `The server answered with status ${response.status}.`;
    const wait = error?.retry_after && !/\d/.test(message) ? ` Try again in ${error.retry_after} s.` : "";
    throw new AnswerError(message + wait);
  }
  let outcome;
  // Read to the end: what follows the last event is the server writing the answer down.
  for await (const [event, data] of serverEvents(response.body)) {
    if (event === "error") throw new AnswerError(data.message || "The answer failed.");
    if (event === "done") {
      // By the end more may be known of what a passage says.
      for (const citation of data.citations ?? []) {
        record.citations = [...record.citations.filter(({ n }) => n !== citation.n), citation];
        showCitation(turn, citation);
      }
      outcome = { messageId: data.message_id, nearest: data.answered === false ? data.suggestions ?? [] : undefined };
    } else if (event === "token") {
      record.text += data.token;
      turn.frame ||= requestAnimationFrame(() => showText(turn));
    } else if (event === "citation") {
      record.citations = [...record.citations.filter(({ n }) => n !== data.n), data];
      showCitation(turn, data);
    }
  }
  if (outcome) return outcome;
  throw new AnswerError("The answer broke off before its end.");
}

// The conversation so far, as the server takes it: the last messages, cut to their longest.
function historyBefore(turn) {
  const message = (role, text) => ({ role, content: text.slice(0, MAX_QUESTION_CHARS) });
  const before = [...turns].filter((other) => other !== turn && other.record.outcome?.messageId);
  return before
    .flatMap(({ record }) => [message("user", record.question), message("assistant", record.text)])
    .slice(-MAX_HISTORY_MESSAGES);
}

async function answer(turn) {
  const controller = new AbortController();
  stopAnswer = () => controller.abort();
  showBusy(true);
  showText(turn);
  announce("Answering…");
  try {
    turn.record.outcome = await streamAnswer(turn, controller.signal);
  } catch (error) {
    console.warn(error);
    const unreachable = `The answer could not be fetched from ${location.host}. Is bookrag still running?`;
    const problem = error instanceof AnswerError ? error.message : unreachable;
    turn.record.outcome = { problem: controller.signal.aborted ? "Stopped." : problem };
  }
  stopAnswer = null;
  showBusy(false);
  announce(showOutcome(turn));
  keepTurns();
}

function ask(text, earlierTurn) {
  const question = text.trim().slice(0, MAX_QUESTION_CHARS);
  if (stopAnswer) return announce("Still answering. Press Escape to stop it first.");
  if (!question) return announce("Type a question first.");
  if (text === page.question.value) page.question.value = page.counter.textContent = "";
  followsNewest = true;
  answer(addTurn({ question, text: "", citations: [] }));
  turns.delete(earlierTurn);
  earlierTurn?.article.remove();
  keepTurns();
}

function showBusy(busy) {
  // The pressed button is about to vanish; without this the focus would fall back to the top of the page.
  const pressed = document.activeElement.closest("#ask, #stop, .retry");
  page.ask.hidden = busy;
  page.stop.hidden = !busy;
  if (pressed) (busy ? page.stop : page.ask).focus({ preventScroll: true });
}

function showNewest() {
  if (followsNewest) window.scrollTo(0, document.documentElement.scrollHeight);
}

function showBook({ title, pages, chunks, example_questions: examples }) {
  document.title = `Ask ${title}`;
  page.title.textContent = title;
  page.facts.textContent = chunks ? `${count(pages, "page")}, ${count(chunks, "passage")}` : "Nothing of this book is indexed yet.";
  page["example-list"].append(...examples.map((text) => make("li", link(`?q=${encodeURIComponent(text)}`, text))));
}

// The browser keeps this with the history entry, so the way back from a source leads to the answers.
function keepTurns() {
  history.replaceState({ title: document.title, records: [...turns].map(({ record }) => record) }, "");
}

function restoreTurn(record) {
  const turn = addTurn(record);
  record.outcome ??= { problem: "Stopped." };
  for (const citation of record.citations) showCitation(turn, citation);
  showOutcome(turn);
}

async function start() {
  const book = await fetch("/local/book").then((response) => (response.ok ? response.json() : null)).catch(() => null);
  if (book) showBook(book);
  else announce(`The book could not be read from ${location.host}. Is bookrag still running?`);
  const asked = new URLSearchParams(location.search).get("q");
  if (history.state?.title === document.title) history.state.records.forEach(restoreTurn);
  else if (asked) ask(asked);
}

page.composer.addEventListener("submit", (event) => {
  event.preventDefault();
  ask(page.question.value);
});
page.question.addEventListener("input", () => {
  const { length } = page.question.value;
  page.counter.textContent = length < COUNTER_FROM_CHARS ? "" : `${length} of ${MAX_QUESTION_CHARS} characters`;
});
// The second half of a double click on Ask lands on Stop.
page.stop.addEventListener("click", ({ detail }) => detail < 2 && stopAnswer?.());
document.addEventListener("keydown", (event) => {
  const inField = event.target === page.question;
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape" && stopAnswer) stopAnswer();
  else if (event.key === "Enter" && inField && !event.shiftKey) page.composer.requestSubmit();
  else if (event.key === "/" && !inField) page.question.focus();
  else return;
  event.preventDefault();
});
document.addEventListener("scroll", () => {
  followsNewest = innerHeight + scrollY >= document.documentElement.scrollHeight - BOTTOM_SLACK_PX;
});
addEventListener("hashchange", keepTurns);
start();
