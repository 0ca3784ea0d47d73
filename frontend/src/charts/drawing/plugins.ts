// What Chart.js has not: whiskers, missing points, reference lines, the crosshair.
import { type Chart, Interaction, type InteractionItem, type Plugin, Tooltip } from "chart.js";

import { asides, moveAside } from "./beside";
import type { Drawn } from "../config";
import { drawMissing } from "./crosses";
import { drawEndLabels } from "./end_labels";
import { drawReferenceLines, nameReferenceLines } from "./reference_lines";
import { keepPointer } from "../heat/heat_hover";
import { type Spec, isSmall } from "../spec";
import { drawLevels, drawRings } from "./levels";
import { strokeAcross, strokeDown } from "./strokes";
import { type Palette, faint } from "../theme";
import { borderPixel, drawBands, drawHeat, drawMarkers, drawMarks, drawMedians, drawSticks, strength } from "./time_drawing";

const CAP_PIXELS = 4;
// Beside each other.
const NARROW_CAP_PIXELS = 2.5;
const WHISKER_DASH = [4, 2];

/** Every visible series' point at the x nearest to the pointer, gaps included: a missing value is told too. */
export function registerSameX(): void {
  Object.assign(Interaction.modes, { sameX, column });
  Object.assign(Tooltip.positioners, { aside: asidePosition, pointer: pointerPosition });
}

/** The column of a heat map that the pointer stands in: the last that starts at or before it, not the nearest start. */
function column(chart: Chart, event: { x: number | null }): InteractionItem[] {
  const [scale, dataset] = [chart.scales["x"], chart.data.datasets[0] as unknown as Drawn | undefined];
  if (!scale || !dataset || event.x === null || !chart.isDatasetVisible(0)) return [];
  const pointer = event.x;
  const starts = dataset.data.map(({ x }) => scale.getPixelForValue(x));
  const index = starts.filter((start) => start <= pointer).length - 1;
  const element = chart.getDatasetMeta(0).data[index];
  return element ? [{ element, datasetIndex: 0, index }] : [];
}

function sameX(chart: Chart, event: { x: number | null }): InteractionItem[] {
  const visible = chart.data.datasets
    .map((dataset, datasetIndex) => ({ dataset: dataset as unknown as Drawn, datasetIndex }))
    .filter(({ dataset, datasetIndex }) => dataset.role !== "repetitions" && chart.isDatasetVisible(datasetIndex));
  const scale = chart.scales["x"];
  if (!scale || event.x === null) return [];
  const pointer = event.x;
  const lines = visible.filter(({ dataset }) => dataset.role === "median");
  const xs = lines.flatMap(({ dataset }) => dataset.data.map(({ x }) => x)).filter((x) => x >= scale.min && x <= scale.max);
  const distance = (x: number): number => Math.abs(scale.getPixelForValue(x) - pointer);
  const nearest = xs.reduce((best, x) => (distance(x) < distance(best) ? x : best), xs[0] ?? NaN);
  return visible.flatMap(({ dataset, datasetIndex }) => {
    const index = nearestIndex(chart, dataset, nearest);
    const element = chart.getDatasetMeta(datasetIndex).data[index];
    return element ? [{ element, datasetIndex, index }] : [];
  });
}

// Runs of several pairs never begin in the same second: what stands under one pointer is told together.
const TOGETHER_PIXELS = 3;

function nearestIndex(chart: Chart, dataset: Drawn, x: number): number {
  const exact = dataset.data.findIndex((point) => point.x === x);
  const scale = chart.scales["x"];
  if (exact >= 0 || !scale || dataset.data.length === 0) return exact;
  const pixel = scale.getPixelForValue(x);
  const distance = (index: number): number => Math.abs(scale.getPixelForValue(dataset.data[index]?.x ?? NaN) - pixel);
  const best = dataset.data.reduce((found, _, index) => (distance(index) < distance(found) ? index : found), 0);
  return distance(best) <= TOGETHER_PIXELS ? best : -1;
}

function asidePosition(this: { chart: Chart }, items: InteractionItem[]): { x: number; y: number } | false {
  const first = items[0];
  return first ? { x: first.element.x, y: this.chart.chartArea.top + 8 } : false;
}

/** Beside the pointer: a heat map tells of the cell under it. */
function pointerPosition(this: { chart: Chart }, items: InteractionItem[], event: { x: number; y: number }): { x: number; y: number } | false {
  keepPointer(this.chart, event.y);
  return items.length ? { x: event.x, y: event.y } : false;
}

/** Draws behind and over the lines; `spec` and `colors` are asked anew, for both change. */
export function ownDrawing(spec: () => Spec, colors: () => Palette): Plugin<"line"> {
  return {
    id: "benchweb",
    afterUpdate: (chart) => {
      if (spec().form === "sweep" || spec().form === "percentiles") moveAside(chart);
    },
    beforeDatasetsDraw: (chart) => {
      drawHeat(chart, spec(), colors());
      drawBands(chart, spec(), colors());
      drawLevels(chart, spec(), colors(), (id) => strengthOf(chart, id));
      drawWhiskers(chart, colors());
    },
    afterDatasetsDraw: (chart) => {
      if (spec().form === "time" && !isSmall(spec())) drawMarkers(chart, colors());
      drawMedians(chart, spec(), colors());
      drawRings(chart, spec(), colors());
      // Over the lines: a link's rate lies where the best of them are, and its name must stay readable.
      drawReferenceLines(chart, spec(), colors());
      drawMissing(chart, eachPoint, colors());
      drawSticks(chart, colors());
      drawEndLabels(chart, spec(), colors());
      drawMarks(chart, spec(), colors());
      if (!isSmall(spec())) nameReferenceLines(chart, spec(), colors());
      drawCrosshair(chart, colors());
    },
  };
}

/** How strongly a line is drawn, by its id: a hidden one not at all. */
function strengthOf(chart: Chart, id: string): number {
  const index = chart.data.datasets.findIndex((each) => (each as unknown as Drawn).series.id === id);
  if (index < 0 || !chart.isDatasetVisible(index)) return 0;
  return strength(chart.data.datasets[index] as unknown as Drawn);
}

function eachPoint(chart: Chart, draw: (dataset: Drawn, x: number, index: number) => void): void {
  const { left, right } = chart.chartArea;
  chart.data.datasets.forEach((each, datasetIndex) => {
    const dataset = each as unknown as Drawn;
    if (dataset.role !== "median" || !chart.isDatasetVisible(datasetIndex)) return;
    dataset.data.forEach((point, index) => {
      const x = chart.scales["x"]?.getPixelForValue(point.x) ?? NaN;
      if (x >= left - 1 && x <= right + 1) draw(dataset, x, index);
    });
  });
}

/** Whiskers of several lines at one place stand beside each other, within their markers' width. */
function drawWhiskers(chart: Chart, colors: Palette): void {
  // A year has hundreds of points and a band, which needs no whiskers.
  if ((chart.data.datasets as unknown as Drawn[]).every(({ series }) => series.bands?.length)) return;
  const aside = asides(chart);
  const cap = aside.isShared ? NARROW_CAP_PIXELS : CAP_PIXELS;
  eachPoint(chart, (dataset, x, index) => {
    drawWhisker(chart, dataset, { x: x + aside.of(dataset, dataset.data[index]?.x ?? NaN), index, cap }, colors);
  });
}

function drawWhisker(chart: Chart, dataset: Drawn, { x, index, cap }: { x: number; index: number; cap: number }, colors: Palette): void {
  const point = dataset.data[index]?.source;
  const scale = chart.scales["y"];
  // What has a band needs no whiskers.
  if (!scale || !point || point.low === null || point.high === null || point.n < 2 || dataset.series.bands?.length) return;
  const { ctx } = chart;
  const [low, high] = [borderPixel(scale, point.low), borderPixel(scale, point.high)].map((y) => Math.min(scale.bottom, Math.max(scale.top, y))) as [number, number];
  ctx.save();
  ctx.strokeStyle = faint(colors.series(dataset.series.color), 0.7);
  ctx.lineWidth = 1;
  if (dataset.series.dash !== "solid") ctx.setLineDash(WHISKER_DASH);
  strokeDown(ctx, x, low, high);
  ctx.setLineDash([]);
  // A cut whisker has no end there.
  for (const [y, value] of [[low, point.low], [high, point.high]] as const) if (value >= scale.min && value <= scale.max) strokeAcross(ctx, x - cap, x + cap, y);
  ctx.restore();
}

function drawCrosshair(chart: Chart, colors: Palette): void {
  const active = chart.getActiveElements()[0];
  if (!active) return;
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.strokeStyle = faint(colors.soft, 0.5);
  ctx.lineWidth = 1;
  strokeDown(ctx, active.element.x, chartArea.top, chartArea.bottom);
  ctx.restore();
}
