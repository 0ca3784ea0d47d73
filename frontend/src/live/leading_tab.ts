// Where there is no SharedWorker: the tabs agree by a lock on one that holds the stream for all of them.
import type { Line } from "./line";
import { Hub } from "./hub";
import { sitePath } from "../text/site_path";
import type { Asked, Tell, Told } from "./messages";

// Locks and channels are a host's, which may have several sites.
const NAME = sitePath("/benchweb-live");
type Post = { to: "leader"; from: string; asked: Asked } | { to: "all" } | { to: "page"; page: string; told: Told };

/** Tell whether this browser can do it: locks need https, or this machine itself. */
export function hasLocks(): boolean {
  return "locks" in navigator && "BroadcastChannel" in window;
}

/** Take part as one of the tabs; `again` is called when a new leading tab must be asked anew. */
export function leadingTab(tell: Tell, again: () => void): Line {
  const me = crypto.randomUUID();
  const channel = new BroadcastChannel(NAME);
  const leaving = new AbortController();
  let hub: Hub | null = null;

  const answer = (page: string): Tell => (told) => (page === me ? tell(told) : channel.postMessage({ to: "page", page, told } satisfies Post));
  channel.onmessage = ({ data }: MessageEvent<Post>) => {
    if (data.to === "leader") hub?.receive(data.from, data.asked, answer(data.from));
    else if (data.to === "all") again();
    else if (data.page === me) tell(data.told);
  };
  // The lock is held until this tab lets go; a tab that is closed or crashes loses it, and the next leads.
  const lead = async (): Promise<void> => {
    hub = new Hub();
    channel.postMessage({ to: "all" } satisfies Post);
    again();
    await new Promise((resolve) => leaving.signal.addEventListener("abort", resolve));
    hub.stop();
  };
  void navigator.locks.request(NAME, { signal: leaving.signal }, lead).catch(() => undefined);

  return {
    ask(asked) {
      if (hub) hub.receive(me, asked, tell);
      else channel.postMessage({ to: "leader", from: me, asked } satisfies Post);
    },
    close() {
      this.ask({ type: "leave" });
      leaving.abort();
      channel.close();
    },
  };
}
