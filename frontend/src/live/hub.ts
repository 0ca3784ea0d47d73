// The one stream of a browser: it carries every run that a page watches, and passes the events on to the pages.
import type { Asked, LiveMessage, Tell } from "./messages";

// The server says that it is there every 15 s: after this silence the connection is dead, as after a sleep.
const SILENCE_MILLISECONDS = 40_000;
// A page asks again every 10 s: one that didn't for this long crashed, or was frozen.
const GONE_MILLISECONDS = 45_000;
const LOOK_MILLISECONDS = 5000;
// Pages that come or go at one time, as when a browser restores its tabs, cost one new connection.
const GATHER_MILLISECONDS = 50;
// A server that restarts, or a proxy in between, answers with an error.
const REOPEN_MILLISECONDS = 2000;
const MOST_REOPEN_MILLISECONDS = 60_000;
// As many as the server keeps of a run, and takes in one stream.
const MOST_INTERVALS = 240;
const MOST_RUNS = 50;

interface Page {
  run: string;
  after: string;
  seenAt: number;
  tell: Tell;
}

interface Interval {
  id: string;
  message: LiveMessage;
}

export class Hub {
  private readonly pages = new Map<unknown, Page>();
  private readonly runs = new Map<string, Interval[]>();
  private address = "";
  private source: EventSource | null = null;
  private isOpen = false;
  private heardAt = 0;
  private openTimer: ReturnType<typeof setTimeout> | undefined;
  private reopenPause = REOPEN_MILLISECONDS;
  private readonly lookTimer = setInterval(() => this.look(), LOOK_MILLISECONDS);

  /** Do what a page asks; `key` is the page's for as long as it lives. */
  receive(key: unknown, asked: Asked, tell: Tell): void {
    if (asked.type === "leave") this.leave(key);
    else if (asked.type === "wake") this.openSoon(0);
    else this.join(key, asked, tell);
  }

  /** Let go of the stream for good. */
  stop(): void {
    clearInterval(this.lookTimer);
    this.pages.clear();
    this.runs.clear();
    this.close();
  }

  private join(key: unknown, { address, run, after }: Asked & { type: "join" }, tell: Tell): void {
    const known = this.pages.get(key);
    if (known?.run === run) {
      known.seenAt = Date.now();
      tell({ type: "here" });
      return;
    }
    const page = { run, after, seenAt: Date.now(), tell };
    this.address = address;
    this.pages.set(key, page);
    const intervals = this.runs.get(run);
    if (!intervals) {
      this.runs.set(run, []);
      this.openSoon(GATHER_MILLISECONDS);
      return;
    }
    for (const { id, message } of intervals) pass(page, id, message);
    tell({ type: this.isOpen ? "opened" : "here" });
  }

  private leave(key: unknown): void {
    if (!this.pages.delete(key)) return;
    const watched = new Set([...this.pages.values()].map(({ run }) => run));
    const before = this.runs.size;
    for (const run of this.runs.keys()) if (!watched.has(run)) this.runs.delete(run);
    if (this.runs.size === 0) this.close();
    else if (this.runs.size < before) this.openSoon(GATHER_MILLISECONDS);
  }

  private openSoon(pause: number): void {
    clearTimeout(this.openTimer);
    this.openTimer = setTimeout(() => this.open(), pause);
  }

  private open(): void {
    this.close();
    if (this.runs.size === 0) return;
    this.heardAt = Date.now();
    const watched = [...this.runs].slice(0, MOST_RUNS);
    const query = watched.map(([run, intervals]) => `run=${run}:${intervals.at(-1)?.id ?? ""}`);
    const stream = new EventSource(`${this.address}?${query.join("&")}`);
    this.source = stream;
    stream.addEventListener("open", () => {
      this.isOpen = true;
      this.heardAt = Date.now();
      this.reopenPause = REOPEN_MILLISECONDS;
      // Whatever was missed before the stream was open, or while it was broken, is in the database.
      for (const page of this.pages.values()) page.tell({ type: "opened" });
    });
    stream.addEventListener("alive", () => (this.heardAt = Date.now()));
    stream.addEventListener("error", () => this.lose(stream));
    for (const [run] of watched)
      stream.addEventListener(run, (event: MessageEvent<string>) => this.hear(run, event.lastEventId, JSON.parse(event.data) as LiveMessage));
  }

  private hear(run: string, id: string, message: LiveMessage): void {
    this.heardAt = Date.now();
    if (message.type === "interval") {
      const intervals = this.runs.get(run);
      intervals?.push({ id, message });
      if (intervals && intervals.length > MOST_INTERVALS) intervals.shift();
    }
    const pages = [...this.pages].filter(([, page]) => page.run === run);
    for (const [, page] of pages) pass(page, id, message);
    if (message.type !== "end") return;
    for (const [key] of pages) this.pages.delete(key);
    this.runs.delete(run);
    if (this.runs.size === 0) this.close();
  }

  /** Open anew after a pause, with the places heard since: the browser itself would ask by the old address. */
  private lose(stream: EventSource): void {
    if (this.source !== stream) return;
    this.close();
    // A session that ended looks the same from here: the page's own request tells.
    for (const page of this.pages.values()) page.tell({ type: "lost" });
    this.openSoon(this.reopenPause);
    this.reopenPause = Math.min(2 * this.reopenPause, MOST_REOPEN_MILLISECONDS);
  }

  private look(): void {
    const now = Date.now();
    for (const [key, page] of this.pages) if (now - page.seenAt > GONE_MILLISECONDS) this.leave(key);
    if (this.source && now - this.heardAt > SILENCE_MILLISECONDS) this.openSoon(0);
  }

  private close(): void {
    clearTimeout(this.openTimer);
    this.source?.close();
    this.source = null;
    this.isOpen = false;
  }
}

/** Tell a page of an event, unless it heard that interval before. */
function pass(page: Page, id: string, message: LiveMessage): void {
  if (message.type === "interval") {
    if (!follows(id, page.after)) return;
    page.after = id;
  }
  page.tell({ type: "message", id, message });
}

/** Tell whether a place in the run (trial.event) comes after another; nothing comes before everything. */
export function follows(id: string, before: string): boolean {
  if (!before) return true;
  const [trial = 0, event = 0] = id.split(".").map(Number);
  const [otherTrial = 0, otherEvent = 0] = before.split(".").map(Number);
  return trial === otherTrial ? event > otherEvent : trial > otherTrial;
}
