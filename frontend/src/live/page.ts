// A running run's events: each goes out as a DOM event, and the page's partial is fetched again.
import { type Line, openLine } from "./line";
import type { LiveMessage, Told } from "./messages";

// Longer than the server keeps a rendered part (FRESH_SECONDS in live_parts.py): a refresh never gets an older one.
const REFRESH_MILLISECONDS = 400;
// Two hundred watchers don't ask at once: each waits up to this long for each of them.
const SPREAD_MILLISECONDS = 20;
const MOST_SPREAD_MILLISECONDS = 5000;
// Asking again says that the page is still there, and is always answered: after this silence nobody is.
const ASK_MILLISECONDS = 10_000;
const SILENCE_MILLISECONDS = 30_000;

let [address, worker, run] = ["", "", ""];
let line: Line | null = null;
let lastId = "";
let heardAt = 0;
let watchers = 1;
let refreshTimer = 0;
let isListening = false;

/** Watch the run that `data-live` under `root` names until its end, for as long as the page is to be seen. */
export function startLive(root: Element): void {
  const element = root.matches("[data-live]") ? root : root.querySelector("[data-live]");
  if (!(element instanceof HTMLElement) || run) return;
  run = element.dataset["live"] ?? "";
  address = new URL(element.dataset["liveAddress"] ?? "", location.href).href;
  worker = element.dataset["liveWorker"] ?? "";
  lastId = "";
  look();
  if (isListening) return;
  isListening = true;
  window.setInterval(look, ASK_MILLISECONDS);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("online", () => line?.ask({ type: "wake" }));
  window.addEventListener("pagehide", hangUp);
  // A page that comes back from the browser's cache of pages has no connection any more.
  window.addEventListener("pageshow", (event) => event.persisted && look());
  // Another page was swapped in: its own run, if it has one, is watched by the next call.
  document.addEventListener("htmx:beforeHistorySave", stopLive);
}

/** A hidden page lets go; one that is seen again is told what it missed. */
function look(): void {
  if (!run || document.hidden) {
    hangUp();
    return;
  }
  if (line && Date.now() - heardAt > SILENCE_MILLISECONDS) hangUp();
  if (!line) {
    heardAt = Date.now();
    line = openLine(worker, hear, ask);
  }
  ask();
}

function ask(): void {
  if (run) line?.ask({ type: "join", address, run, after: lastId });
}

function hear(told: Told): void {
  heardAt = Date.now();
  if (told.type === "message") receive(told.id, told.message);
  else if (told.type !== "here") refresh();
}

function receive(id: string, message: LiveMessage): void {
  if (message.type === "interval") lastId = id || lastId;
  watchers = message.watchers ?? watchers;
  document.body.dispatchEvent(new CustomEvent(`benchweb:${message.type}`, { detail: message }));
  if (message.type === "interval") return;
  if (message.type === "end") stopLive();
  refresh();
}

function hangUp(): void {
  line?.close();
  line = null;
}

function stopLive(): void {
  run = "";
  hangUp();
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
