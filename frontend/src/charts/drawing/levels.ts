// Levels that a line held to before and after a change, and the points that are told apart.
import type { Chart } from "chart.js";

import { text } from "../../text/format";
import { say } from "../../text/words";
import { type Level, type Ring, type Spec, isSmall } from "../spec";
import { type Palette, faint } from "../theme";

const LEVEL_PIXELS = 5;
const RING_PIXELS = 8;
const SMALL_RING_PIXELS = 5;
export const RING_DASH = [3, 2];
// A level of a single run is seen too.
const LEAST_PIXELS = 10;

/** Draw each level behind its line, as wide as its runs and as strong as the line, and the interval that it lies in. */
export function drawLevels(chart: Chart, spec: Spec, colors: Palette, strength: (id: string) => number): void {
  const [x, y] = [chart.scales["x"], chart.scales["y"]];
  if (!x || !y || !spec.levels?.length) return;
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(chartArea.left, y.top, chartArea.right - chartArea.left, y.bottom - y.top);
  ctx.clip();
  for (const level of spec.levels) {
    const line = spec.series.find(({ id }) => id === level.of);
    if (!line) continue;
    ctx.globalAlpha = strength(line.id);
    const [since, until] = [level.since, level.until].map((at) => x.getPixelForValue(Date.parse(at))) as [number, number];
    const room = Math.max(0, LEAST_PIXELS - (until - since)) / 2;
    const [left, width] = [since - room, until - since + 2 * room];
    if (level.low !== null && level.high !== null) {
      const [top, bottom] = [y.getPixelForValue(level.high), y.getPixelForValue(level.low)];
      ctx.fillStyle = faint(colors.text, 0.12);
      ctx.fillRect(left, top, width, Math.max(1, bottom - top));
    }
    ctx.fillStyle = faint(colors.series(line.color), 0.45);
    ctx.fillRect(left, y.getPixelForValue(level.y) - LEVEL_PIXELS / 2, width, LEVEL_PIXELS);
  }
  ctx.restore();
}

/** Ring the points that are told apart: what was measured again by a broken ring. */
export function drawRings(chart: Chart, spec: Spec, colors: Palette): void {
  const [x, y] = [chart.scales["x"], chart.scales["y"]];
  if (!x || !y || !spec.rings?.length) return;
  const { ctx } = chart;
  ctx.save();
  ctx.strokeStyle = colors.text;
  ctx.lineWidth = 1.5;
  for (const { at, y: value, kind } of spec.rings) {
    ctx.setLineDash(kind === "again" ? RING_DASH : []);
    ctx.beginPath();
    ctx.arc(x.getPixelForValue(Date.parse(at)), y.getPixelForValue(value), isSmall(spec) ? SMALL_RING_PIXELS : RING_PIXELS, 0, 2 * Math.PI);
    ctx.stroke();
  }
  ctx.restore();
}

/** The level that a line's point is of: of two that meet the later. */
export function levelAt(spec: Spec, line: string, at: number | string): Level | undefined {
  return spec.levels?.findLast(({ of, since, until }) => of === line && since <= String(at) && String(at) <= until);
}

/** What a point is told apart for. */
export function ringAt(spec: Spec, at: number | string): Ring | undefined {
  return spec.rings?.find((ring) => ring.at === at);
}

/** A level in words, with its interval where there is one. */
export function levelText(spec: Spec, { y, low, high }: Level): string {
  const level = say("level {value}", { value: text(y, spec.y.unit) });
  if (low === null || high === null) return level;
  return `${level} (${say("{low} to {high}", { low: text(low, spec.y.unit), high: text(high, spec.y.unit) })})`;
}
