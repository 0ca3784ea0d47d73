// A running run's events: each goes out as a DOM event, and the page's partial is fetched again.

/** What the server tells over the stream; the rest of the message depends on its type. */
export interface LiveMessage {
  type: "run" | "trial" | "interval" | "end";
  [key: string]: unknown;
}

const REFRESH_MILLISECONDS = 400;
let source: EventSource | null = null;
let refreshTimer = 0;

/** Open the stream that `data-live` under `root` names; the browser reconnects by itself. */
export function startLive(root: Element): void {
  const element = root.matches("[data-live]") ? root : root.querySelector("[data-live]");
  if (!(element instanceof HTMLElement) || source) return;
  const stream = new EventSource(element.dataset["live"] ?? "");
  source = stream;
  // Whatever was missed before the stream was open, or while it was broken, is in the database.
  stream.addEventListener("open", refresh);
  stream.addEventListener("message", (event: MessageEvent<string>) => receive(JSON.parse(event.data) as LiveMessage));
  window.addEventListener("pagehide", stopLive, { once: true });
}

function receive(message: LiveMessage): void {
  document.body.dispatchEvent(new CustomEvent(`benchweb:${message.type}`, { detail: message }));
  if (message.type === "interval") return;
  if (message.type === "end") stopLive();
  refresh();
}

function stopLive(): void {
  source?.close();
  source = null;
}

/** At most one refresh per period, and always one after the last message. */
function refresh(): void {
  if (refreshTimer) return;
  refreshTimer = window.setTimeout(() => {
    refreshTimer = 0;
    document.body.dispatchEvent(new CustomEvent("benchweb:refresh"));
  }, REFRESH_MILLISECONDS);
}
