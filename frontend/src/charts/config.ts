// From a specification to Chart.js: a median line with markers per series, its repetitions as faint points.
import type { Chart, ChartConfiguration, ChartDataset, Point } from "chart.js";

import { text } from "../text/format";
import { type Range, stripScale, xScale, xText, yScale } from "./axes/axes";
import { heatLines } from "./heat/heat_hover";
import { DASHES, FADED } from "./drawing/marks";
import { levelAt, levelText, ringAt } from "./drawing/levels";
import { type Series, type Spec, type SpecPoint, isLook, isSmall, xValue } from "./spec";
import { endLabelWidth } from "./drawing/end_labels";
import { isShown } from "./left_out";
import { type Palette, faint } from "./theme";
import { hasPlace } from "./axes/value_range";
import { say } from "../text/words";
import { wrapped } from "./wrapping";

/** A drawn point that remembers what it stands for. */
export interface DrawnPoint extends Point {
  x: number;
  source: SpecPoint;
}

/** A dataset of ours: the line of a series, or its repetitions; faded while another line is looked at. */
export type Drawn = ChartDataset<"line", DrawnPoint[]> & { series: Series; role: "median" | "repetitions" | "strip"; isFaded: boolean };

/** What a tooltip tells of. */
interface Shown {
  chart: Chart;
  dataset: Drawn;
  raw: DrawnPoint;
}

// What Chart.js writes with, unless told.
const TOOLTIP_FONT = "12px 'Helvetica Neue', 'Helvetica', 'Arial', sans-serif";
// Padding, the colour's box, and some room: a canvas measures a font that it has not drawn yet by another.
const TOOLTIP_EDGES = 48;
// How far a marker reaches from its point.
const MARKER_REACH = 6;

/** The datasets of a specification, hidden series included; while one is looked at, by its id, the others are faded. */
export function datasets(spec: Spec, hidden: ReadonlySet<string>, colors: Palette, looked = ""): Drawn[] {
  const isFaded = (id: string): boolean => looked !== "" && looked !== id;
  const lines = spec.series.flatMap((series) => {
    const isHidden = hidden.has(series.id);
    return [medianLine(spec, series, isHidden, colors), repetitionPoints(spec, series, isHidden, colors)].map((each) => faded(each, isFaded(series.id), colors));
  });
  // A line's strip is hidden with it.
  const strips = (spec.strip?.series ?? []).map((series) => faded(stripPoints(spec, series, hidden.has(series.of), colors), isFaded(series.of), colors));
  return [...lines, ...strips];
}

function faded(drawn: Omit<Drawn, "isFaded">, isFaded: boolean, colors: Palette): Drawn {
  return { ...drawn, ...(isFaded ? { borderColor: faint(colors.series(drawn.series.color), FADED) } : {}), isFaded } as Drawn;
}

/** The whole configuration; `top` is the common maximum of the charts of one quantity. */
export function configuration(
  spec: Spec, range: Range, top: number, hidden: ReadonlySet<string>, colors: Palette,
): ChartConfiguration<"line", DrawnPoint[]> {
  return {
    type: "line",
    data: { datasets: datasets(spec, hidden, colors) },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      spanGaps: false,
      layout: { padding: ((context: { chart: Chart }) => ({ top: spec.marks?.length ? 22 : 14, right: 10 + endLabelWidth(context.chart, spec) })) as never },
      interaction: { mode: (spec.heat ? "column" : "sameX") as "x", intersect: false },
      scales: scales(spec, range, top, colors) as never,
      plugins: { legend: { display: false }, tooltip: tooltip(spec, colors) as never },
    },
  };
}

/** All axes of a chart. */
export function scales(spec: Spec, range: Range, top: number, colors: Palette): object {
  const strip = spec.strip ? { strip: stripScale(spec, colors) } : {};
  return { x: xScale(spec, range, colors), y: yScale(spec, top, colors), ...strip };
}

function medianLine(spec: Spec, series: Series, hidden: boolean, colors: Palette): Omit<Drawn, "isFaded"> {
  const color = colors.series(series.color);
  return {
    type: "line", label: series.label, series, role: "median", hidden,
    // What the axis has no place for is a gap, and no point at its end.
    data: sorted(spec, series).map((source) => ({ x: xValue(spec, source.x), y: isShown(spec, source) ? Number(source.y) : NaN, source })),
    borderColor: color, backgroundColor: color, borderWidth: isSmall(spec) ? 1.5 : 2, showLine: !spec.heat, borderDash: DASHES[series.dash], tension: 0,
    pointStyle: series.marker, pointRadius: radius(spec), pointHitRadius: 5 - radius(spec), pointHoverRadius: isSmall(spec) ? 4 : 6,
    // What is under a hollow marker is seen through it: what was sent is often what was received.
    pointBackgroundColor: series.is_hollow ? "transparent" : color, pointBorderColor: series.is_hollow ? color : colors.ground, pointBorderWidth: series.is_hollow ? 1.5 : isSmall(spec) ? 0 : 1,
    // A marker on the axis' end is shown whole.
    clip: MARKER_REACH, order: 1,
  };
}

function repetitionPoints(spec: Spec, series: Series, hidden: boolean, colors: Palette): Omit<Drawn, "isFaded"> {
  const color = faint(colors.series(series.color), 0.35);
  return {
    type: "line", label: `${series.label}, repetitions`, series, role: "repetitions", hidden, showLine: false,
    data: sorted(spec, series).flatMap((source) =>
      source.repetitions.filter((y) => hasPlace(spec.y.scale, y)).map((y) => ({ x: xValue(spec, source.x), y, source }))),
    pointStyle: "circle", pointRadius: 2.5, pointHoverRadius: 2.5, pointBorderWidth: 0,
    borderColor: color, backgroundColor: color, order: 2,
  };
}

/** Drawn as sticks by a plugin: a strip is read by its outliers. */
function stripPoints(spec: Spec, series: Series, hidden: boolean, colors: Palette): Omit<Drawn, "isFaded"> {
  const color = colors.series(series.color);
  return {
    type: "line", label: series.label, series, role: "strip", hidden, showLine: false, yAxisID: "strip",
    data: sorted(spec, series).map((source) => ({ x: xValue(spec, source.x), y: source.y ?? NaN, source })),
    pointRadius: 0, pointHoverRadius: 0, borderColor: color, backgroundColor: color, order: 3,
  };
}

// More markers than this hide their own line.
const MARKED_AT_MOST = 100;

/** Over time points stand so close that markers would hide the line: a plugin draws those that there is room for. */
function radius(spec: Spec): number {
  if (isSmall(spec)) return spec.detail === "row" ? 1 : 1.75;
  const isDense = spec.series.some(({ points }) => points.length > MARKED_AT_MOST);
  return spec.form === "time" || spec.form === "heat" || isDense ? 0 : 5;
}

function sorted(spec: Spec, series: Series): SpecPoint[] {
  // The server has put times in their order, and parsing them takes long.
  if (isLook(spec)) return series.points;
  return [...series.points].sort((a, b) => xValue(spec, a.x) - xValue(spec, b.x));
}

/** The borders of nested bands in words; a single band is the lowest and highest that the point tells already. */
function bandTexts(spec: Spec, dataset: Drawn, index: number): string[] {
  const bands = dataset.role === "median" ? (dataset.series.bands ?? []) : [];
  if (bands.length < 2) return [];
  return bands.flatMap(({ label, low, high }) =>
    typeof low[index] === "number" && typeof high[index] === "number"
      ? [`  ${label}: ${rangeText(spec, low[index], high[index])}`] : []);
}

/** What is flagged within a hundredth of the time in view. */
function marksNear(spec: Spec, x: number): string[] {
  const span = spec.x_from && spec.x_to ? Date.parse(spec.x_to) - Date.parse(spec.x_from) : 0;
  return (spec.marks ?? []).flatMap(({ at, until, label }) => {
    const [first, last] = [Date.parse(at), Date.parse(until || at)];
    return x >= first - span / 100 && x <= last + span / 100 ? [`⚑ ${label}`] : [];
  });
}

// Of more lines a tooltip of levels would hide them.
const MOST_LEVELS = 3;

/** The levels that the points are of, and what they are told apart for. */
function changesAt(spec: Spec, items: Shown[]): string[] {
  const medians = items.filter(({ dataset }) => dataset.role === "median");
  const rings = medians.flatMap(({ raw }) => ringAt(spec, raw.source.x)?.label ?? []);
  if (medians.length > MOST_LEVELS) return rings;
  const levels = medians.flatMap(({ dataset, raw }) => {
    const level = levelAt(spec, dataset.series.id, raw.source.x);
    return level ? [`${medians.length > 1 ? `${dataset.series.label}: ` : ""}${levelText(spec, level)}`] : [];
  });
  return [...rings, ...levels];
}

function rangeText(spec: Spec, low: number, high: number): string {
  return say("{low} to {high}", { low: text(low, spec.y.unit), high: text(high, spec.y.unit) });
}

/** A point in words: its value, extremes and count; why there is none is told below all of them. */
function pointText(spec: Spec, series: Series, point: SpecPoint): string {
  if (point.y === null) return `${series.label}: —`;
  const value = `${series.label}: ${text(point.y, spec.y.unit)}`;
  if (point.n < 2 || point.low === null || point.high === null) return point.n ? `${value} · n=${point.n}` : value;
  return `${value} (${rangeText(spec, point.low, point.high)}) · n=${point.n}`;
}

/** Why values are missing, each reason once: a run that gave nothing is a gap in many lines. */
export function reasons(points: SpecPoint[]): string[] {
  return [...new Set(points.filter(({ y }) => y === null).map(({ reason }) => `— ${reason || say("missing")}`))];
}

function footer(spec: Spec, items: Shown[]): string[] {
  const [first] = items;
  if (!first) return [];
  const said = [...reasons(items.map(({ raw }) => raw.source)), ...changesAt(spec, items), ...marksNear(spec, first.raw.x)];
  return said.flatMap((words) => fitted(first.chart, words));
}

/** Break words so that the chart holds them: what reaches beyond the canvas is cut. */
function fitted(chart: Chart, words: string): string[] {
  const { ctx, width } = chart;
  ctx.save();
  ctx.font = TOOLTIP_FONT;
  const lines = wrapped(words, (line) => ctx.measureText(line).width <= width - TOOLTIP_EDGES);
  ctx.restore();
  return lines;
}

function tooltip(spec: Spec, colors: Palette): object {
  return {
    animation: false, position: spec.heat ? "pointer" : "aside", caretPadding: 12, boxWidth: 8, boxHeight: 8,
    backgroundColor: colors.ground, borderColor: colors.soft, borderWidth: 1, cornerRadius: 4, padding: 8,
    titleColor: colors.text, bodyColor: colors.text, footerColor: colors.soft, footerFont: { weight: "normal" }, usePointStyle: true, boxPadding: 4, caretSize: 0,
    filter: (item: { dataset: Drawn }) => item.dataset.role !== "repetitions",
    callbacks: {
      title: (items: { raw: DrawnPoint }[]) => (items[0] ? xText(spec, items[0].raw.x) : ""),
      label: (item: Shown) => {
        const ofCell = heatLines(item.chart, spec, String(item.raw.source.x));
        if (ofCell) return ofCell.flatMap((line) => fitted(item.chart, line));
        const shown = item.dataset.role === "strip" && spec.strip ? { ...spec, y: spec.strip.y } : spec;
        return fitted(item.chart, pointText(shown, item.dataset.series, item.raw.source));
      },
      afterLabel: (item: { dataset: Drawn; dataIndex: number }) => bandTexts(spec, item.dataset, item.dataIndex),
      footer: (items: Shown[]) => footer(spec, items),
      labelPointStyle: (item: { dataset: Drawn }) => ({ pointStyle: item.dataset.series.marker, rotation: 0 }),
      labelColor: (item: { dataset: Drawn }) => {
        const color = colors.series(item.dataset.series.color);
        return { borderColor: color, backgroundColor: color };
      },
    },
  };
}
