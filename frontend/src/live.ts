// A running run's events: each goes out as a DOM event, and the page's partial is fetched again.

/** What the server tells over the stream; the rest of the message depends on its type. */
export interface LiveMessage {
  type: "run" | "trial" | "interval" | "end";
  watchers?: number;
  [key: string]: unknown;
}

// Longer than the server keeps a rendered part (FRESH_SECONDS in live_parts.py): a refresh never gets an older one.
const REFRESH_MILLISECONDS = 400;
// Two hundred watchers don't ask at once: each waits up to this long for each of them.
const SPREAD_MILLISECONDS = 20;
const MOST_SPREAD_MILLISECONDS = 5000;
// The server says that it is there every 15 s: after this silence the connection is dead, as after a sleep.
const SILENCE_MILLISECONDS = 40_000;
const LOOK_MILLISECONDS = 5000;
// A server that restarts, or a proxy in between, answers with an error, and then the browser itself gives up.
const REOPEN_MILLISECONDS = 2000;
const MOST_REOPEN_MILLISECONDS = 60_000;

let address = "";
let source: EventSource | null = null;
let lastId = "";
let heardAt = 0;
let watchers = 1;
let refreshTimer = 0;
let reopenTimer = 0;
let reopenPause = REOPEN_MILLISECONDS;
let isListening = false;

/** Open the stream that `data-live` under `root` names, and keep it open until the run's end. */
export function startLive(root: Element): void {
  const element = root.matches("[data-live]") ? root : root.querySelector("[data-live]");
  if (!(element instanceof HTMLElement) || address) return;
  address = element.dataset["live"] ?? "";
  lastId = "";
  open();
  if (isListening) return;
  isListening = true;
  window.setInterval(look, LOOK_MILLISECONDS);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("online", reopen);
  // A page that comes back from the browser's cache of pages has no connection any more.
  window.addEventListener("pageshow", (event) => event.persisted && reopen());
  window.addEventListener("pagehide", close);
  // Another page was swapped in: its own stream, if it has one, is opened by the next call.
  document.addEventListener("htmx:beforeHistorySave", stopLive);
}

function open(): void {
  close();
  heardAt = Date.now();
  const stream = new EventSource(lastId ? `${address}?after=${encodeURIComponent(lastId)}` : address);
  source = stream;
  // Whatever was missed before the stream was open, or while it was broken, is in the database.
  stream.addEventListener("open", () => {
    heardAt = Date.now();
    reopenPause = REOPEN_MILLISECONDS;
    refresh();
  });
  stream.addEventListener("alive", () => (heardAt = Date.now()));
  stream.addEventListener("message", (event: MessageEvent<string>) => {
    if (event.lastEventId) lastId = event.lastEventId;
    receive(JSON.parse(event.data) as LiveMessage);
  });
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED && source === stream && !reopenTimer) {
      reopenTimer = window.setTimeout(reopen, reopenPause);
      reopenPause = Math.min(2 * reopenPause, MOST_REOPEN_MILLISECONDS);
    }
  });
}

function receive(message: LiveMessage): void {
  heardAt = Date.now();
  watchers = message.watchers ?? watchers;
  document.body.dispatchEvent(new CustomEvent(`benchweb:${message.type}`, { detail: message }));
  if (message.type === "interval") return;
  if (message.type === "end") stopLive();
  refresh();
}

function look(): void {
  if (!document.hidden && Date.now() - heardAt > SILENCE_MILLISECONDS) reopen();
}

function reopen(): void {
  window.clearTimeout(reopenTimer);
  reopenTimer = 0;
  if (address) open();
}

function close(): void {
  source?.close();
  source = null;
}

function stopLive(): void {
  close();
  address = "";
}

/** At most one refresh per period, and always one after the last message. */
function refresh(): void {
  if (refreshTimer) return;
  const spread = Math.random() * Math.min(watchers * SPREAD_MILLISECONDS, MOST_SPREAD_MILLISECONDS);
  refreshTimer = window.setTimeout(() => {
    refreshTimer = 0;
    document.body.dispatchEvent(new CustomEvent("benchweb:refresh"));
  }, REFRESH_MILLISECONDS + spread);
}
