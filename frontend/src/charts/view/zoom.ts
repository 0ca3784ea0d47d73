// Drag to zoom, double click to see all again; the range in view is in the URL, so that a link shows the same.
import type { Chart } from "chart.js";

import type { Range } from "../axes/axes";
import { chosen, keep } from "./view_state";

const LEAST_PIXELS = 8;

/** The range that the URL asks for, if it does: only what the chart has, for anyone may write an address. */
export function rangeInUrl(id: string, whole: Range): Range | null {
  const found = /^(-?[\d.e+-]+):(-?[\d.e+-]+)$/.exec(chosen(`zoom.${id}`));
  return found ? within({ low: Number(found[1]), high: Number(found[2]) }, whole) : null;
}

/** The part of a range that lies in the whole; none where there is none. */
export function within(range: Range, whole: Range): Range | null {
  const [low, high] = [Math.max(range.low, whole.low), Math.min(range.high, whole.high)];
  return low < high ? { low, high } : null;
}

/** Whether a pointer that was pressed and let go there has drawn a range. */
export function isDrag(from: number, to: number): boolean {
  return Math.abs(to - from) >= LEAST_PIXELS;
}

/** Listen on the canvas; `show` gets the dragged range, or null for all. */
export function listenForZoom(chart: Chart, show: (range: Range | null) => void): void {
  const { canvas } = chart;
  let start: number | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    start = event.button === 0 && event.pointerType === "mouse" ? event.offsetX : null;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (start !== null) drawBand(chart, start, event.offsetX);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (start !== null && isDrag(start, event.offsetX)) zoom(start, event.offsetX);
    start = null;
  });
  canvas.addEventListener("dblclick", () => show(null));

  function zoom(from: number, to: number): void {
    const scale = chart.scales["x"];
    if (!scale) return;
    const [a, b] = [Number(scale.getValueForPixel(from)), Number(scale.getValueForPixel(to))];
    const range = { low: Math.min(a, b), high: Math.max(a, b) };
    show(range);
  }
}

/** Put the range of a chart into the address. */
export function keepRange(id: string, range: Range | null): void {
  keep(`zoom.${id}`, range ? `${range.low.toPrecision(5)}:${range.high.toPrecision(5)}` : "");
}

function drawBand(chart: Chart, from: number, to: number): void {
  chart.draw();
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.fillStyle = "rgb(128 140 150 / 25%)";
  ctx.fillRect(Math.min(from, to), chartArea.top, Math.abs(to - from), chartArea.bottom - chartArea.top);
  ctx.restore();
}
