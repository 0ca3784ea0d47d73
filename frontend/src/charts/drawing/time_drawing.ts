// What belongs to charts over time: bands around lines, sticks on the strip, flags, and the heat map's cells.
import type { Chart, Scale } from "chart.js";

import type { Drawn } from "../config";
import { shareColor } from "../heat/heat_scale";
import { FADED, marked, shape } from "./marks";
import { type Mark, type Spec, largestShare } from "../spec";
import { type Palette, faint } from "../theme";

const FLAG_PIXELS = 8;
// Flags that would overlap are one, with their number.
const CLUSTER_PIXELS = 12;
// From one marker of a line to the next: what it is dashed like must be seen between them.
const MARKER_ROOM = 36;
// A marker at the end of the axis is whole.
const MARKER_REACH = 6;

/** Draw how far each point's repetitions lie apart: a bar of its own over time, else a band along the line; gaps stay open. */
export function drawBands(chart: Chart, spec: Spec, colors: Palette): void {
  const [x, y] = [chart.scales["x"], chart.scales["y"]];
  if (!x || !y) return;
  clipped(chart, y, (ctx) => {
    const lines = visible(chart, "median");
    for (const dataset of lines) {
      const bands = dataset.series.bands ?? [];
      ctx.globalAlpha = strength(dataset);
      // What lies over each other adds up.
      ctx.fillStyle = faint(colors.series(dataset.series.color), bands.length > 1 || lines.length > 1 ? 0.16 : 0.24);
      const places = dataset.data.map((point) => x.getPixelForValue(point.x));
      for (const { low, high } of bands) {
        if (spec.form === "time") drawBars(ctx, y, places, low, high);
        else drawBand(ctx, y, places, low, high);
      }
    }
  });
}

type Border = (number | null)[];

/** What nobody measured between two nights has no spread: each night has its own, and of many they become a quiet band. */
function drawBars(ctx: CanvasRenderingContext2D, y: Scale, places: number[], low: Border, high: Border): void {
  const width = barWidth(places);
  low.forEach((lowest, index) => {
    if (!Number.isFinite(lowest) || !Number.isFinite(high[index])) return;
    const [bottom, top] = [borderPixel(y, lowest), borderPixel(y, high[index])];
    ctx.fillRect((places[index] ?? NaN) - width / 2, top, width, Math.max(1, bottom - top));
  });
}

function drawBand(ctx: CanvasRenderingContext2D, y: Scale, places: number[], low: Border, high: Border): void {
  for (const [first, last] of stretches(low, high)) {
    const indexes = range(first, last);
    const at = (index: number): number => places[index] ?? NaN;
    ctx.beginPath();
    // A point alone has a band too, as wide as its marker.
    const reach = first === last ? 2 : 0;
    for (const index of indexes) ctx.lineTo(at(index) - reach, borderPixel(y, high[index]));
    if (reach) for (const index of indexes) ctx.lineTo(at(index) + reach, borderPixel(y, high[index]));
    for (const index of [...indexes].reverse()) ctx.lineTo(at(index) + reach, borderPixel(y, low[index]));
    if (reach) for (const index of indexes) ctx.lineTo(at(index) - reach, borderPixel(y, low[index]));
    ctx.closePath();
    ctx.fill();
  }
}

const MOST_BAR = 6;
const LEAST_BAR = 1;

/** As wide as half of what lies between most points, so that nights stand apart. */
export function barWidth(places: number[]): number {
  const apart = places.slice(1).map((place, index) => place - (places[index] ?? NaN)).filter((each) => each > 0).sort((one, other) => one - other);
  const middle = apart[Math.floor(apart.length / 2)] ?? MOST_BAR * 2;
  return Math.min(MOST_BAR, Math.max(LEAST_BAR, middle / 2));
}

/** How strongly a line is drawn: faded while another one is looked at. */
export function strength({ isFaded }: Drawn): number {
  return isFaded ? FADED : 1;
}

/** Draw the markers of lines over time, as many as there is room for between them. */
export function drawMarkers(chart: Chart, colors: Palette): void {
  const x = chart.scales["x"];
  const y = chart.scales["y"];
  if (!x || !y) return;
  clipped(chart, y, (ctx) => {
    ctx.strokeStyle = colors.ground;
    ctx.lineWidth = 1;
    for (const dataset of visible(chart, "median")) {
      ctx.globalAlpha = strength(dataset);
      ctx.fillStyle = colors.series(dataset.series.color);
      const outline = new Path2D(shape(dataset.series.marker));
      const places = dataset.data.map((point) => (Number.isFinite(point.y) ? x.getPixelForValue(point.x) : NaN));
      for (const index of marked(places, MARKER_ROOM)) {
        ctx.save();
        ctx.translate((places[index] ?? 0) - 12, y.getPixelForValue(dataset.data[index]?.y ?? NaN) - 6);
        ctx.fill(outline);
        ctx.stroke(outline);
        ctx.restore();
      }
    }
  }, MARKER_REACH);
}

/** Draw the strip's values as sticks from its ground; a zero is a dot there, a missing value nothing. */
export function drawSticks(chart: Chart, colors: Palette): void {
  const [x, y] = [chart.scales["x"], chart.scales["strip"]];
  if (!x || !y) return;
  clipped(chart, y, (ctx) => {
    for (const dataset of visible(chart, "strip")) {
      ctx.globalAlpha = strength(dataset);
      ctx.strokeStyle = ctx.fillStyle = colors.series(dataset.series.color);
      ctx.lineWidth = 2;
      for (const point of dataset.data) {
        const [place, top, ground] = [x.getPixelForValue(point.x), y.getPixelForValue(Number(point.y)), y.getPixelForValue(0)];
        if (point.y === 0) ctx.fillRect(place - 0.5, ground - 1, 1, 1);
        if (!(Number(point.y) > 0)) continue;
        ctx.beginPath();
        ctx.moveTo(place, ground);
        ctx.lineTo(place, Math.min(top, ground - 2));
        ctx.stroke();
      }
    }
  });
}

/** Draw flags at the chart's top: a note's is filled, a changed fact's is open; spans are shaded. */
export function drawMarks(chart: Chart, spec: Spec, colors: Palette): void {
  const x = chart.scales["x"];
  const { top, bottom, left, right } = chart.chartArea;
  if (!x || !spec.marks?.length) return;
  const { ctx } = chart;
  ctx.save();
  for (const { until, at } of spec.marks) {
    if (!until) continue;
    const [first, last] = [at, until].map((time) => Math.min(right, Math.max(left, x.getPixelForValue(Date.parse(time)))));
    ctx.fillStyle = faint(colors.soft, 0.12);
    ctx.fillRect(first ?? 0, top, (last ?? 0) - (first ?? 0), bottom - top);
  }
  for (const { place, marks } of clusters(spec.marks, (mark) => x.getPixelForValue(Date.parse(mark.at)))) {
    if (place < left || place > right) continue;
    flag(ctx, place, top, bottom, marks, colors);
  }
  ctx.restore();
}

/** Draw the heat map's cells; an empty share stays the ground. */
export function drawHeat(chart: Chart, spec: Spec, colors: Palette): void {
  const [x, y, heat] = [chart.scales["x"], chart.scales["y"], spec.heat];
  if (!x || !y || !heat) return;
  const most = largestShare(heat);
  clipped(chart, y, (ctx) => {
    heat.shares.forEach((column, index) => {
      const left = x.getPixelForValue(Date.parse(heat.starts[index] ?? ""));
      const right = Math.max(left + 1, x.getPixelForValue(Date.parse(heat.ends[index] ?? "")));
      column.forEach((share, row) => {
        if (share <= 0) return;
        const [low, high] = [borderPixel(y, heat.edges[row]), borderPixel(y, heat.edges[row + 1])];
        ctx.fillStyle = shareColor(share, most, colors);
        ctx.fillRect(left, high, right - left + 0.5, low - high + 0.5);
      });
    });
  });
}

/** Draw a heat map's medians over its cells, each as wide as its column: a line between two columns would tell of no time. */
export function drawMedians(chart: Chart, spec: Spec, colors: Palette): void {
  const [x, y, heat] = [chart.scales["x"], chart.scales["y"], spec.heat];
  if (!x || !y || !heat) return;
  const ends = new Map(heat.starts.map((start, index) => [Date.parse(start), Date.parse(heat.ends[index] ?? "")]));
  clipped(chart, y, (ctx) => {
    for (const dataset of visible(chart, "median")) {
      const path = new Path2D();
      let reached = NaN;
      for (const point of dataset.data) {
        const end = ends.get(point.x);
        if (!Number.isFinite(point.y) || end === undefined) continue;
        const [left, right, level] = [x.getPixelForValue(point.x), x.getPixelForValue(end), y.getPixelForValue(Number(point.y))];
        if (point.x === reached) path.lineTo(left, level);
        else path.moveTo(left, level);
        path.lineTo(Math.max(left + 1, right), level);
        reached = end;
      }
      outlined(ctx, path, colors.series(dataset.series.color), colors.ground);
    }
  });
}

/** A line with a rim of the ground's colour stands out from every cell. */
function outlined(ctx: CanvasRenderingContext2D, path: Path2D, color: string, rim: string): void {
  ctx.lineJoin = "round";
  for (const [width, style] of [[6, rim], [2.5, color]] as const) {
    ctx.lineWidth = width;
    ctx.strokeStyle = style;
    ctx.stroke(path);
  }
}

/** Where the flag under a place on the canvas leads to; empty where there is none, or it leads nowhere. */
export function flagHref(chart: Chart, spec: Spec, at: { x: number; y: number }): string {
  const x = chart.scales["x"];
  if (!x || at.y > chart.chartArea.top || !spec.marks?.length) return "";
  const near = clusters(spec.marks, (mark) => x.getPixelForValue(Date.parse(mark.at))).filter(({ place }) => at.x >= place - CLUSTER_PIXELS / 2 && at.x <= place + CLUSTER_PIXELS);
  return near.flatMap(({ marks }) => marks.map(({ href }) => href)).find((href) => href) ?? "";
}

function flag(ctx: CanvasRenderingContext2D, x: number, top: number, bottom: number, marks: Mark[], colors: Palette): void {
  const isAlert = marks.some(({ kind }) => kind === "alert");
  const isNote = isAlert || marks.some(({ kind }) => kind === "note");
  ctx.strokeStyle = ctx.fillStyle = isAlert ? colors.bad : isNote ? colors.text : colors.soft;
  ctx.lineWidth = 1;
  ctx.setLineDash(isNote ? [] : [2, 3]);
  ctx.beginPath();
  ctx.moveTo(x, top - FLAG_PIXELS);
  ctx.lineTo(x, bottom);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.moveTo(x, top - FLAG_PIXELS - 4);
  ctx.lineTo(x + FLAG_PIXELS, top - FLAG_PIXELS);
  ctx.lineTo(x, top - FLAG_PIXELS + 4);
  ctx.closePath();
  if (isNote) ctx.fill();
  else ctx.stroke();
  if (marks.length < 2) return;
  ctx.font = "10px system-ui, sans-serif";
  ctx.textAlign = "left";
  ctx.fillText(String(marks.length), x + FLAG_PIXELS + 2, top - FLAG_PIXELS + 3);
}

function clusters(marks: Mark[], placeOf: (mark: Mark) => number): { place: number; marks: Mark[] }[] {
  const found: { place: number; marks: Mark[] }[] = [];
  for (const mark of marks) {
    const place = placeOf(mark);
    const last = found.at(-1);
    if (last && place - last.place < CLUSTER_PIXELS) last.marks.push(mark);
    else found.push({ place, marks: [mark] });
  }
  return found;
}

/** First and last index of each stretch in which both borders are there. */
export function stretches(low: (number | null)[], high: (number | null)[]): [number, number][] {
  const found: [number, number][] = [];
  low.forEach((value, index) => {
    if (!Number.isFinite(value) || !Number.isFinite(high[index])) return;
    const last = found.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else found.push([index, index]);
  });
  return found;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, step) => first + step);
}

function visible(chart: Chart, role: Drawn["role"]): Drawn[] {
  const all = chart.data.datasets as unknown as Drawn[];
  return all.filter((dataset, index) => dataset.role === role && chart.isDatasetVisible(index));
}

/** Where the border of a spread lies; one that the axis has no place for, such as zero on a logarithmic one, at its bottom. */
export function borderPixel(scale: Pick<Scale, "type" | "bottom" | "getPixelForValue">, value: number | null | undefined): number {
  if (scale.type === "logarithmic" && typeof value === "number" && value <= 0) return scale.bottom;
  return scale.getPixelForValue(value ?? NaN);
}

/** Draw within the area of an axis: below a chart's own may be that of its strip. */
function clipped(chart: Chart, { top, bottom }: Pick<Scale, "top" | "bottom">, draw: (ctx: CanvasRenderingContext2D) => void, reach = 0): void {
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(chartArea.left - reach, top - reach, chartArea.right - chartArea.left + 2 * reach, bottom - top + 2 * reach);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}
