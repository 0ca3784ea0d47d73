// Holds the browser's one live stream for all of its tabs; it ends with the last of them.
import { Hub } from "./hub";
import type { Asked } from "./messages";

const hub = new Hub();
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void };

scope.onconnect = ({ ports: [port] }) => {
  if (!port) return;
  port.onmessage = ({ data }: MessageEvent<Asked>) => hub.receive(port, data, (told) => port.postMessage(told));
};
