// Draws every chart of a page from its specifications, and keeps them fresh while a run is running.
import {
  CategoryScale, Chart, LineController, LineElement, LinearScale, LogarithmicScale, PointElement, Tooltip,
} from "chart.js";
import type htmxType from "htmx.org";

import { startBrush } from "./charts/view/brush";
import { type Card, card } from "./charts/card";
import { registerSameX } from "./charts/drawing/plugins";
import { type IntervalMessage, runningTrial } from "./charts/running";
import { type Spec, isSmall, largest, received } from "./charts/spec";
import { smallChart } from "./charts/small";
import { drawTiles, redrawTiles } from "./charts/tiles";
import { SymlogScale } from "./charts/axes/symlog";
import { redrawWatched, watchRun } from "./charts/watched";

Chart.register(CategoryScale, LineController, LineElement, LinearScale, LogarithmicScale, PointElement, SymlogScale, Tooltip);
registerSameX();

// Charts of one quantity share their scale, unless the smaller would be flattened to nothing.
const SHARED_WITHIN = 3;
const cards = new Map<string, Card>();
// Those that a page begins with; what it fetches later has cards of its own.
const pictures: Card[] = [];

function quantityKey(spec: Spec): string {
  return `${spec.y.unit} ${spec.y.label} ${spec.y.scale}`;
}

function commonTop(spec: Spec, all: Spec[]): number {
  const own = largest(spec);
  if (spec.scale_group) return Math.max(...all.filter((other) => other.scale_group === spec.scale_group).map(largest));
  const tops = all.filter((other) => quantityKey(other) === quantityKey(spec)).map(largest);
  return Math.max(own, ...tops.filter((top) => top <= own * SHARED_WITHIN));
}

/** A small chart's link, by the chart's id. */
function linkOf(spec: Spec): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-chart="${CSS.escape(spec.id)}"]`);
}

/** Where a page has room of its own for charts of a kind, by how their ids begin, or for all but the first, they stand there. */
function roomOf(root: HTMLElement, index: number, id: string): HTMLElement {
  const own = document.querySelector<HTMLElement>(`[data-charts-of="${id.split("-")[0] ?? ""}"]`);
  return own ?? ((index > 0 && document.querySelector<HTMLElement>("[data-charts-beside]")) || root);
}

function show(root: HTMLElement, specs: Spec[]): void {
  const wanted = new Set(specs.map(({ id }) => id));
  for (const [id, old] of cards) if (!wanted.has(id)) remove(id, old);
  for (const [index, spec] of specs.entries()) {
    const top = commonTop(spec, specs);
    const known = cards.get(spec.id);
    if (known) known.update(spec, top);
    else {
      const made = isSmall(spec) ? smallChart(spec) : card(spec, top);
      cards.set(spec.id, made);
      if (isSmall(spec)) linkOf(spec)?.replaceChildren(made.element);
      else roomOf(root, index, spec.id).append(made.element);
    }
  }
}

function remove(id: string, old: Card): void {
  old.destroy();
  old.element.remove();
  cards.delete(id);
}

function clear(): void {
  for (const [id, old] of cards) remove(id, old);
}

function read<Content>(id: string): Content | null {
  const text = document.getElementById(id)?.textContent;
  return text ? (JSON.parse(text) as Content) : null;
}

async function refetch(root: HTMLElement): Promise<void> {
  const answer = await fetch(root.dataset["charts"] ?? "", { headers: { Accept: "application/json" } });
  // A failed refresh leaves the last figures standing; the next message tries again.
  if (answer.ok) show(root, received(((await answer.json()) as { charts: unknown }).charts));
}

/** Fresh figures come with the page's own refresh where it brings them, else by a request of their own. */
function listenForFresh(root: HTMLElement): void {
  if (!document.getElementById("charts-fresh")) {
    if (root.dataset["charts"]) document.body.addEventListener("benchweb:refresh", () => void refetch(root));
    return;
  }
  let shown = "";
  document.body.addEventListener("htmx:afterSettle", () => {
    const text = document.getElementById("charts-fresh")?.textContent ?? "";
    if (!text || text === shown || !root.isConnected) return;
    shown = text;
    show(root, received(JSON.parse(text)));
  });
}

/** Draw the small charts that a page begins with, each in its link, once. */
function startPictures(): void {
  const place = document.querySelector<HTMLElement>("[data-pictures]");
  if (place?.dataset["started"]) return;
  for (const old of pictures.splice(0)) old.destroy();
  if (!place) return;
  place.dataset["started"] = "yes";
  for (const spec of received(read("pictures-data") ?? [])) {
    const made = smallChart(spec);
    pictures.push(made);
    linkOf(spec)?.replaceChildren(made.element);
  }
}

function start(): void {
  startBrush();
  drawTiles();
  startPictures();
  watchRun(read("live-metrics") ?? {});
  const root = document.querySelector<HTMLElement>("[data-charts]");
  if (root?.dataset["started"]) return;
  // Those of a part that was swapped away.
  clear();
  if (!root) return;
  root.dataset["started"] = "yes";
  const sent = read("charts-data");
  if (sent) show(root, received(sent));
  else if (root.dataset["charts"]) void refetch(root);
  const body = document.body;
  listenForFresh(root);
  const place = document.querySelector<HTMLElement>("[data-running]");
  if (place) {
    const add = runningTrial(place, read("live-metrics") ?? {});
    body.addEventListener("benchweb:interval", (event) => add((event as CustomEvent<IntervalMessage>).detail));
  }
  if (location.hash.startsWith("#chart-")) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function redrawAll(): void {
  for (const each of [...pictures, ...cards.values()]) each.redraw();
  redrawWatched();
  redrawTiles();
}

document.addEventListener("benchweb:theme", redrawAll);
matchMedia("print").addEventListener("change", redrawAll);
(window as unknown as { htmx?: typeof htmxType }).htmx?.onLoad(start);
start();
