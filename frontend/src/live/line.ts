// A page's line to whoever holds the browser's stream: a shared worker, else a leading tab, else the page itself.
import { Hub } from "./hub";
import { hasLocks, leadingTab } from "./leading_tab";
import type { Asked, Tell } from "./messages";

export interface Line {
  ask(asked: Asked): void;
  close(): void;
}

let hasWorker = "SharedWorker" in window;

/** Open a line; what is told goes to `tell`, and `again` is called when the page has to ask anew. */
export function openLine(worker: string, tell: Tell, again: () => void): Line {
  if (hasWorker) return workerLine(worker, tell, again);
  return hasLocks() ? leadingTab(tell, again) : ownLine(tell);
}

// A page asks every 10 s, and each asking but the first is answered at once: a worker that misses two is none.
const MOST_UNANSWERED = 2;

function workerLine(address: string, tell: Tell, again: () => void): Line {
  const worker = new SharedWorker(address, { name: "benchweb live" });
  let other: Line | null = null;
  let unanswered = 0;
  worker.port.onmessage = ({ data }: MessageEvent<Parameters<Tell>[0]>) => {
    unanswered = 0;
    tell(data);
  };
  const doWithout = (): void => {
    hasWorker = false;
    other ??= openLine(address, tell, again);
    again();
  };
  // The worker's script can't be loaded, as when the server was upgraded meanwhile; a browser doesn't always tell.
  worker.onerror = doWithout;
  return {
    ask(asked) {
      if (other) other.ask(asked);
      else if (asked.type === "join" && ++unanswered > MOST_UNANSWERED) doWithout();
      else worker.port.postMessage(asked);
    },
    close() {
      worker.port.postMessage({ type: "leave" } satisfies Asked);
      worker.port.close();
      other?.close();
    },
  };
}

function ownLine(tell: Tell): Line {
  const hub = new Hub();
  return { ask: (asked) => hub.receive("", asked, tell), close: () => hub.stop() };
}
