// The server's time, by which ages are told: a reader's clock may be wrong, and is told to be.

import { say } from "./words";

// The way of a page takes less; a clock that is set by the network is never so far off.
const RIGHT_WITHIN_MILLISECONDS = 2_000;
const TOLD_FROM_MILLISECONDS = 60_000;
const KEPT = "clock_offset";

let offset = 0;

/** What the server's clock shows now, in milliseconds. */
export function serverNow(): number {
  return Date.now() + offset;
}

/** Compare the clocks by this page and by each later answer. */
export function startServerClock(): void {
  const page = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined;
  const made = Number(document.documentElement.dataset["now"] ?? 0) * 1000;
  // What the browser had kept was made long ago.
  const isFresh = page !== undefined && page.type !== "back_forward" && page.transferSize > 0;
  if (made && isFresh) compare(made, Date.now() - performance.now() + page.responseStart);
  else offset = Number(sessionStorage.getItem(KEPT) ?? 0);
  tell();
  document.addEventListener("htmx:afterRequest", (event) => {
    const answer = (event as CustomEvent<{ xhr?: XMLHttpRequest }>).detail.xhr;
    const at = Date.parse(answer?.getResponseHeader("Date") ?? "");
    if (Number.isNaN(at) || Math.abs(at - serverNow()) < RIGHT_WITHIN_MILLISECONDS) return;
    compare(at, Date.now());
    tell();
  });
}

function compare(server: number, reader: number): void {
  offset = Math.abs(server - reader) < RIGHT_WITHIN_MILLISECONDS ? 0 : Math.round(server - reader);
  sessionStorage.setItem(KEPT, String(offset));
}

function tell(): void {
  const notice = document.getElementById("clock-notice");
  if (!notice) return;
  notice.hidden = Math.abs(offset) < TOLD_FROM_MILLISECONDS;
  const places = { length: length(Math.abs(offset)) };
  notice.textContent = offset > 0
    ? say("This device's clock is {length} behind the server's. Ages are those of the server's clock.", places)
    : say("This device's clock is {length} ahead of the server's. Ages are those of the server's clock.", places);
}

function length(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 60) return say("{number} min", { number: minutes });
  const hours = Math.round(minutes / 60);
  return hours < 48 ? say("{number} h", { number: hours }) : say("{number} days", { number: Math.round(hours / 24) });
}
