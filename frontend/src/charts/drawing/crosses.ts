// Where there is no value: crosses or rings on the axis, for a gap in the line alone is easily overlooked.
import type { Chart } from "chart.js";

import type { Drawn } from "../config";
import type { Palette } from "../theme";

const CROSS_PIXELS = 8;
const MANY_CROSSES = 4;

/** Goes through the points in view of every visible line. */
type EachPoint = (chart: Chart, draw: (dataset: Drawn, x: number, index: number) => void) => void;

/**
 * A ring on the axis where a value is yet to be measured, and a cross where one is missing: a gap in the line alone is easily overlooked. On the axis itself, for
 * above it it would be a value near zero; those of a few lines at one place stand one above the other.
 */
export function drawMissing(chart: Chart, eachPoint: EachPoint, colors: Palette): void {
  const ground = chart.scales["y"]?.bottom ?? chart.chartArea.bottom;
  const lines = new Set<Drawn>();
  const missing: { x: number; of: Drawn }[] = [];
  const pending: { x: number; of: Drawn }[] = [];
  eachPoint(chart, (of, x, index) => {
    const point = of.data[index]?.source;
    lines.add(of);
    if (point?.y === null) (point.is_pending ? pending : missing).push({ x, of });
  });
  for (const { x } of crossPlaces(pending, CROSS_PIXELS)) drawRing(chart.ctx, x, ground, colors);
  for (const { x, of } of crossPlaces(missing, CROSS_PIXELS)) {
    // Where no line has a value, or many have none, it is no line's own.
    const isNobodys = lines.size > 1 && (of.length === lines.size || of.length >= MANY_CROSSES);
    const shown = isNobodys ? [colors.soft] : of.map(({ series }) => colors.series(series.color));
    shown.forEach((color, row) => drawCross(chart.ctx, x, ground - row * CROSS_PIXELS, color, colors.ground));
  }
}

/** Put together what would lie over each other: each place with its lines, every line once. */
export function crossPlaces<Line>(missing: { x: number; of: Line }[], room: number): { x: number; of: Line[] }[] {
  const places: { x: number; of: Line[] }[] = [];
  for (const { x, of } of [...missing].sort((a, b) => a.x - b.x)) {
    const last = places.at(-1);
    if (!last || x - last.x >= room) places.push({ x, of: [of] });
    else if (!last.of.includes(of)) last.of.push(of);
  }
  return places;
}

function drawRing(ctx: CanvasRenderingContext2D, x: number, y: number, colors: Palette): void {
  ctx.save();
  ctx.beginPath();
  ctx.arc(x, y, 3, 0, 2 * Math.PI);
  ctx.fillStyle = colors.ground;
  ctx.fill();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = colors.soft;
  ctx.stroke();
  ctx.restore();
}

function drawCross(ctx: CanvasRenderingContext2D, x: number, y: number, color: string, rim: string): void {
  ctx.save();
  ctx.beginPath();
  ctx.moveTo(x - 3, y - 3);
  ctx.lineTo(x + 3, y + 3);
  ctx.moveTo(x + 3, y - 3);
  ctx.lineTo(x - 3, y + 3);
  for (const [width, style] of [[4, rim], [1.5, color]] as const) {
    ctx.lineWidth = width;
    ctx.strokeStyle = style;
    ctx.stroke();
  }
  ctx.restore();
}
