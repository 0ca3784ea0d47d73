// The lines' names at their ends, where several lines over time share a chart that has room for them.
import type { Chart } from "chart.js";

import type { Drawn } from "../config";
import type { Spec } from "../spec";
import { FADED } from "./marks";
import type { Palette } from "../theme";

const FONT = "12px system-ui, sans-serif";
const LEAST_WIDTH = 720;
// Of the chart's width: longer names are cut.
const MOST_LABEL = 0.22;
const GAP = 14;
const LINE_HEIGHT = 15;

/** A name beside a line's last point. */
export interface EndLabel {
  id: string;
  words: string;
  /** Where the line ends, and where its name stands: names don't cover each other. */
  from: number;
  y: number;
}

/** How much room the names take on the right; none where there is one line, or no room. */
export function endLabelWidth(chart: Chart, spec: Spec): number {
  if (!isNamed(chart, spec)) return 0;
  const { ctx } = chart;
  ctx.save();
  ctx.font = FONT;
  const widest = Math.max(...spec.series.map(({ label }) => ctx.measureText(label).width));
  ctx.restore();
  return Math.ceil(Math.min(MOST_LABEL * chart.width, widest)) + GAP;
}

/** Where the names stand, from the top down. */
export function endLabels(chart: Chart, spec: Spec): EndLabel[] {
  const y = chart.scales["y"];
  if (!y || !isNamed(chart, spec)) return [];
  const all = chart.data.datasets as unknown as Drawn[];
  const ends = all.flatMap(({ role, series, data }, index) => {
    const last = data.findLast((point) => Number.isFinite(point.y));
    if (role !== "median" || !last || !chart.isDatasetVisible(index)) return [];
    const from = Math.min(y.bottom, Math.max(y.top, y.getPixelForValue(Number(last.y))));
    return [{ id: series.id, words: series.label, from, y: from }];
  });
  return apart(ends, y.top, y.bottom);
}

/** Move names apart that would cover each other, none of them out of the chart while there is room. */
export function apart(ends: EndLabel[], top: number, bottom: number): EndLabel[] {
  const labels = [...ends].sort((one, other) => one.from - other.from);
  labels.forEach((label, index) => (label.y = Math.max(label.y, (labels[index - 1]?.y ?? top - LINE_HEIGHT) + LINE_HEIGHT)));
  let most = bottom;
  for (const label of labels.reverse()) {
    label.y = Math.min(label.y, most);
    most = label.y - LINE_HEIGHT;
  }
  return labels.reverse();
}

/** Write the names, each with a thin line from where its own ends. */
export function drawEndLabels(chart: Chart, spec: Spec, colors: Palette): void {
  const { ctx, chartArea } = chart;
  const all = chart.data.datasets as unknown as Drawn[];
  const room = chart.width - chartArea.right - GAP;
  ctx.save();
  ctx.font = FONT;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const { id, words, from, y } of endLabels(chart, spec)) {
    const drawn = all.find(({ role, series }) => role === "median" && series.id === id);
    ctx.globalAlpha = drawn?.isFaded ? FADED * 2 : 1;
    ctx.strokeStyle = colors.series(drawn?.series.color ?? 0);
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(chartArea.right + 1, from);
    ctx.lineTo(chartArea.right + GAP - 4, y);
    ctx.stroke();
    ctx.fillStyle = colors.text;
    ctx.fillText(shortened(ctx, words, room), chartArea.right + GAP, y);
  }
  ctx.restore();
}

function isNamed(chart: Chart, spec: Spec): boolean {
  return spec.form === "time" && spec.series.length > 1 && chart.width >= LEAST_WIDTH;
}

function shortened(ctx: CanvasRenderingContext2D, words: string, room: number): string {
  if (ctx.measureText(words).width <= room) return words;
  let kept = words;
  while (kept && ctx.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}
