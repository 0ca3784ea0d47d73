// What pages, and who holds the stream for them, tell each other.

/** What the server tells over the stream; the rest of the message depends on its type. */
export interface LiveMessage {
  type: "run" | "trial" | "interval" | "end";
  watchers?: number;
  [key: string]: unknown;
}

/** A page watches a run from the last place that it heard; asking again says that the page is still there. */
export type Asked = { type: "join"; address: string; run: string; after: string } | { type: "leave" } | { type: "wake" };

/** What a page is told: an event of its run, that the stream opened or was lost, or only that somebody is there. */
export type Told = { type: "message"; id: string; message: LiveMessage } | { type: "opened" | "lost" | "here" };

export type Tell = (told: Told) => void;
