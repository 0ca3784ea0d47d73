// Lines across a chart, such as the rate of a link, and where their names hide the least.
import type { Chart, ChartArea } from "chart.js";

import { text } from "../../text/format";
import type { Spec } from "../spec";
import { strokeAcross } from "./strokes";
import { type Palette, faint } from "../theme";

/** A part of the canvas, in pixels. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// Worse than any number of points.
const OVERLAP = 1e6;
const FLAG_PIXELS = 18;
const BETWEEN_PIXELS = 6;
const MOST_BETWEEN = 200;
// A name's height, and how far above its line it stands.
const NAME_PIXELS = 12;
const ABOVE_PIXELS = 4;

/** A reference line as it lies on the canvas. */
interface Lying {
  y: number;
  left: number;
  right: number;
  words: string;
  isBeyond: boolean;
}

/** Where each reference line lies, the highest first; one beyond the axis lies at its end, one of another time nowhere. */
function referenceLines(chart: Chart, spec: Spec): Lying[] {
  const scale = chart.scales["y"];
  if (!scale) return [];
  return [...spec.lines]
    .sort((a, b) => b.y - a.y)
    .map((line) => {
      const [isAbove, isBelow] = [line.y > scale.max, line.y < scale.min];
      const words = `${line.label} ${text(line.y, spec.y.unit)}${isAbove ? " ↑" : isBelow ? " ↓" : ""}`;
      const y = isAbove ? chart.chartArea.top : isBelow ? scale.bottom : scale.getPixelForValue(line.y);
      return { y, left: edge(chart, line.since, "left"), right: edge(chart, line.until, "right"), words, isBeyond: isAbove || isBelow };
    })
    .filter(({ left, right }) => left < right);
}

/** Give the pixel where a line begins or ends; beyond the chart that is the chart's own. */
function edge(chart: Chart, at: string | undefined, side: "left" | "right"): number {
  const { left, right } = chart.chartArea;
  const x = at ? chart.scales["x"]?.getPixelForValue(Date.parse(at)) : undefined;
  return x === undefined ? chart.chartArea[side] : Math.min(right, Math.max(left, x));
}

export function drawReferenceLines(chart: Chart, spec: Spec, colors: Palette): void {
  const { ctx } = chart;
  ctx.save();
  ctx.lineWidth = 1;
  ctx.strokeStyle = faint(colors.soft, 0.6);
  for (const { y, left, right, isBeyond } of referenceLines(chart, spec)) {
    if (!isBeyond) strokeAcross(ctx, left, right, y);
  }
  ctx.restore();
}

/** A name's place; `y` is where its letters stand. */
interface Place extends Box {
  y: number;
}

/** Name them over all that is drawn, where the least of it is hidden: neither a line nor a mark may run through a name. */
export function nameReferenceLines(chart: Chart, spec: Spec, colors: Palette): void {
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.font = "11px system-ui, sans-serif";
  ctx.textAlign = "left";
  const lying = referenceLines(chart, spec);
  // A name over another line would take its beginning for its own.
  const across = lying.flatMap(({ y, left, right }) => Array.from({ length: Math.ceil((right - left) / BETWEEN_PIXELS) }, (_, step) => ({ x: left + step * BETWEEN_PIXELS, y })));
  const drawn = [...drawnPoints(chart), ...across];
  const flags = flagBoxes(chart, spec);
  const taken: Box[] = [];
  const stacked = stacks(lying.map(({ y }) => y), chartArea.top, chartArea.bottom);
  for (const [index, { y, left, right, words }] of lying.entries()) {
    // In a narrow chart, as on paper, the letters move together: cut off a name says nothing, over the axis it hides labels.
    const width = Math.min(ctx.measureText(words).width, chartArea.width);
    const place = leastHiding(places(chartArea, { y, left, right }, width, stacked[index]), { drawn, taken: [...taken, ...flags] });
    taken.push(place);
    ctx.fillStyle = faint(colors.ground, 0.85);
    ctx.fillRect(place.left, place.top, width + 4, place.bottom - place.top);
    ctx.fillStyle = colors.soft;
    ctx.fillText(words, place.left + 2, place.y, chartArea.width);
  }
  ctx.restore();
}

/** Choose of some places that which hides the fewest points, and nothing of what is written already. */
export function leastHiding<B extends Box>(choices: B[], { drawn, taken }: { drawn: { x: number; y: number }[]; taken: Box[] }): B {
  const hides = (box: Box): number =>
    drawn.filter(({ x, y }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom).length +
    (taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom) ? OVERLAP : 0);
  return choices.map((box) => ({ box, hidden: hides(box) })).reduce((best, each) => (each.hidden < best.hidden ? each : best)).box;
}

/**
 * Of lines too near to each other for a name between them, those above the widest gap have their names above them, the
 * others below, each in the lines' order: the nearest name is the line's own. Without room for that all names are on one
 * side. Gives where each one's letters stand, undefined for a line that is near no other; from the highest.
 */
export function stacks(ys: number[], top: number, bottom: number): (number | undefined)[] {
  const found: (number | undefined)[] = ys.map(() => undefined);
  for (let first = 0, end = 1; first < ys.length; first = end, end = first + 1) {
    while (end < ys.length && (ys[end] ?? 0) - (ys[end - 1] ?? 0) < NAME_PIXELS + ABOVE_PIXELS) end += 1;
    const count = end - first;
    if (count === 1) continue;
    const group = ys.slice(first, end);
    const [highest, lowest] = [group[0] ?? 0, group[count - 1] ?? 0];
    // Above the chart there is room for one name more.
    const fitsAbove = Math.floor((highest - top + 1) / NAME_PIXELS) + 1;
    const fitsBelow = Math.floor((bottom - lowest) / NAME_PIXELS);
    const wanted = widestGap(group);
    const aboveCount = wanted <= fitsAbove && count - wanted <= fitsBelow ? wanted : count <= fitsAbove ? count : 0;
    for (let place = 0; place < count; place += 1) {
      found[first + place] = place < aboveCount
        ? highest - ABOVE_PIXELS - (aboveCount - 1 - place) * NAME_PIXELS
        : lowest + NAME_PIXELS + (place - aboveCount) * NAME_PIXELS;
    }
  }
  return found;
}

/** How many of a group of lines lie above its widest gap. */
function widestGap(group: number[]): number {
  let widest = 1;
  for (let place = 2; place < group.length; place += 1) {
    if ((group[place] ?? 0) - (group[place - 1] ?? 0) > (group[widest] ?? 0) - (group[widest - 1] ?? 0)) widest = place;
  }
  return widest;
}

/** Above or below the line, at its right, its left or its middle: in the order of preference. */
function places(area: ChartArea, line: Pick<Lying, "y" | "left" | "right">, width: number, stacked?: number): Place[] {
  const inside = (left: number): number => Math.max(area.left + 2, Math.min(area.right - width - 2, left));
  const lefts = [line.right - width - 2, line.left + 2, (line.left + line.right - width) / 2].map(inside);
  const y = line.y;
  // One of a stack that went to another height would be taken for that of a line there.
  if (stacked !== undefined) return lefts.map((left) => placed(left, stacked, width));
  const shift = [-4, 12, 24];
  return shift.flatMap((by) => lefts.map((left) => placed(left, y + by, width)));
}

function placed(left: number, y: number, width: number): Place {
  return { left, right: left + width + 4, top: y - 9, bottom: y + 3, y };
}

/** Points of all lines, and of the straight lines between them one every few pixels. */
function drawnPoints(chart: Chart): { x: number; y: number }[] {
  return chart.getSortedVisibleDatasetMetas().flatMap(({ data }) =>
    data.flatMap(({ x, y }, index) => {
      const next = data[index + 1];
      if (!Number.isFinite(x) || !Number.isFinite(y)) return [];
      if (!next || !Number.isFinite(next.x) || !Number.isFinite(next.y)) return [{ x, y }];
      const steps = Math.min(MOST_BETWEEN, Math.max(1, Math.ceil((next.x - x) / BETWEEN_PIXELS)));
      return Array.from({ length: steps }, (_, step) => ({ x: x + ((next.x - x) * step) / steps, y: y + ((next.y - y) * step) / steps }));
    }),
  );
}

/** Flags stand above the chart, their number at their right. */
function flagBoxes(chart: Chart, spec: Spec): Box[] {
  const x = chart.scales["x"];
  if (!x) return [];
  const top = chart.chartArea.top;
  return (spec.marks ?? []).map(({ at }) => {
    const place = x.getPixelForValue(Date.parse(at));
    return { left: place - 6, right: place + 22, top: top - FLAG_PIXELS, bottom: top };
  });
}
