// The whole period in small below the charts: a window on it, moved by mouse or keys, is what the charts show.
import type { Range } from "../axes/axes";
import { el } from "../dom";
import { lookAt } from "./look";
import { type Spec, largest, received, xValue } from "../spec";
import { type Palette, palette } from "../theme";
import { lowest } from "../axes/value_range";
import { toTheSecond } from "../../text/times";
import { say } from "../../text/words";

const HEIGHT = 48;
// A window narrower than this was a click.
const LEAST_PIXELS = 4;
// What an arrow key moves an edge by.
const STEPS = 50;

interface Brush {
  place: HTMLElement;
  canvas: HTMLCanvasElement;
  whole: Range;
  shown: Range;
  specs: Spec[];
}

/** Draw the brush where the page has a place for it; the whole period is fetched only while a part is shown. */
export function startBrush(): void {
  const place = document.querySelector<HTMLElement>("[data-brush]");
  if (!place || place.dataset["started"]) return;
  place.dataset["started"] = "yes";
  void fill(place);
}

async function fill(place: HTMLElement): Promise<void> {
  const page = read();
  const specs = isZoomed() ? await fetched(place) : page;
  const whole = wholeRange(place, specs);
  if (!whole) return;
  const from = page.find(({ x_from }) => x_from);
  const shown = isZoomed() && from ? { low: Date.parse(from.x_from ?? ""), high: Date.parse(from.x_to ?? "") } : { ...whole };
  const canvas = el("canvas", { "aria-hidden": "true" });
  const brush: Brush = { place, canvas, whole, shown, specs };
  const edges = [edge(brush, "low", say("Start of the time range")), edge(brush, "high", say("End of the time range"))];
  place.replaceChildren(canvas, ...edges);
  listen(brush);
  draw(brush);
  current = brush;
  new ResizeObserver(() => draw(brush)).observe(place);
}

// Of the page as it is now: what an earlier one listened to must not pile up.
let current: Brush | null = null;
document.addEventListener("benchweb:theme", () => current && draw(current));

function read(): Spec[] {
  return received(JSON.parse(document.getElementById("charts-data")?.textContent ?? "[]"));
}

function isZoomed(): boolean {
  const query = new URL(location.href).searchParams;
  return query.has("from") || query.has("to");
}

async function fetched(place: HTMLElement): Promise<Spec[]> {
  const answer = await fetch(place.dataset["brush"] ?? "", { headers: { Accept: "application/json" } });
  return answer.ok ? received(((await answer.json()) as { charts: unknown }).charts) : [];
}

/** The time on the charts' axes when nothing is zoomed: the brush and the charts show the same then. */
function wholeRange(place: HTMLElement, specs: Spec[]): Range | null {
  const axes = specs.find(({ x_from }) => x_from);
  if (axes) return { low: Date.parse(axes.x_from ?? ""), high: Date.parse(axes.x_to ?? "") };
  const high = Date.parse(place.dataset["high"] ?? "");
  const low = Date.parse(place.dataset["low"] ?? "");
  const first = Math.min(...specs.flatMap((spec) => spec.series.flatMap(({ points }) => points.slice(0, 1).map(({ x }) => xValue(spec, x)))));
  const begin = Number.isFinite(low) ? low : first;
  return Number.isFinite(begin) && high > begin ? { low: begin, high } : null;
}

function draw(brush: Brush): void {
  const { canvas, place, specs, whole, shown } = brush;
  const [width, ratio, colors] = [place.clientWidth, devicePixelRatio || 1, palette()];
  canvas.width = width * ratio;
  canvas.height = HEIGHT * ratio;
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  ctx.scale(ratio, ratio);
  const xOf = (time: number): number => ((time - whole.low) / (whole.high - whole.low)) * width;
  const top = Math.max(...specs.map(largest)) || 1;
  const bottom = Math.min(0, ...specs.map(lowest));
  for (const spec of specs) drawLines(ctx, spec, width, xOf, (y) => HEIGHT - 3 - ((y - bottom) / (top - bottom)) * (HEIGHT - 6), colors);
  const [low, high] = [xOf(shown.low), xOf(shown.high)];
  ctx.fillStyle = colors.isDark ? "rgb(20 24 29 / 70%)" : "rgb(255 255 255 / 70%)";
  ctx.fillRect(0, 0, low, HEIGHT);
  ctx.fillRect(high, 0, width - high, HEIGHT);
  ctx.strokeStyle = colors.soft;
  ctx.strokeRect(low + 0.5, 0.5, Math.max(1, high - low - 1), HEIGHT - 1);
  for (const handle of place.querySelectorAll<HTMLElement>("[role=slider]")) {
    const time = handle.dataset["edge"] === "low" ? shown.low : shown.high;
    handle.style.left = `${xOf(time)}px`;
    handle.setAttribute("aria-valuenow", String(Math.round(time)));
    handle.setAttribute("aria-valuetext", toTheSecond(new Date(time)));
  }
}

function drawLines(ctx: CanvasRenderingContext2D, spec: Spec, width: number, xOf: (time: number) => number, yOf: (y: number) => number, colors: Palette): void {
  ctx.lineWidth = 1;
  for (const { points, color } of spec.series) {
    ctx.strokeStyle = ctx.fillStyle = colors.series(color);
    ctx.beginPath();
    let isApart = true;
    points.forEach(({ x, y }, index) => {
      if (y === null) {
        isApart = true;
        return;
      }
      const place = [xOf(xValue(spec, x)), yOf(y)] as const;
      const isAlone = isApart && typeof points[index + 1]?.y !== "number";
      // Within the frame: the latest run stands on its edge.
      if (isAlone) ctx.fillRect(Math.max(2, Math.min(place[0], width - 5)), place[1] - 1.5, 3, 3);
      else if (isApart) ctx.moveTo(...place);
      else ctx.lineTo(...place);
      isApart = false;
    });
    ctx.stroke();
  }
}

/** An edge of the window for the keyboard: arrows move it, Enter or leaving it fetches. */
function edge(brush: Brush, which: "low" | "high", label: string): HTMLElement {
  const { whole, shown } = brush;
  const handle = el("span", {
    role: "slider", tabindex: "0", class: "brush-edge", "data-edge": which, "aria-label": label,
    "aria-valuemin": String(Math.round(whole.low)), "aria-valuemax": String(Math.round(whole.high)),
  });
  let isMoved = false;
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (event.key === "Enter" && isMoved) return lookAt({ ...shown });
    if (!step) return;
    event.preventDefault();
    const span = (whole.high - whole.low) / STEPS;
    const [least, most] = which === "low" ? [whole.low, shown.high - span] : [shown.low + span, whole.high];
    shown[which] = Math.max(least, Math.min(most, shown[which] + step * span));
    isMoved = true;
    draw(brush);
  });
  handle.addEventListener("blur", () => {
    if (isMoved && brush.place.isConnected) lookAt({ ...shown });
  });
  return handle;
}

/** Drag outside of the window makes a new one, inside moves it; a double click shows all. */
function listen(brush: Brush): void {
  const { canvas, whole, shown, place } = brush;
  const timeAt = (event: PointerEvent): number => {
    const share = (event.clientX - canvas.getBoundingClientRect().left) / place.clientWidth;
    return whole.low + Math.min(1, Math.max(0, share)) * (whole.high - whole.low);
  };
  let start: { time: number; x: number; window: Range; isInside: boolean } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    const time = timeAt(event);
    const isPart = shown.low > whole.low || shown.high < whole.high;
    start = { time, x: event.clientX, window: { ...shown }, isInside: isPart && time > shown.low && time < shown.high };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!start) return;
    const time = timeAt(event);
    if (start.isInside) {
      const span = start.window.high - start.window.low;
      shown.low = Math.min(whole.high - span, Math.max(whole.low, start.window.low + time - start.time));
      shown.high = shown.low + span;
    } else [shown.low, shown.high] = [Math.min(start.time, time), Math.max(start.time, time)];
    draw(brush);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (start && Math.abs(event.clientX - start.x) >= LEAST_PIXELS) lookAt({ ...shown });
    else if (start) Object.assign(shown, start.window);
    start = null;
  });
  canvas.addEventListener("dblclick", () => lookAt(null));
}
