// Axes from the specification: log₂ sizes, categories, times, and SI units in the title.
import type { ScaleOptions } from "chart.js";

import { binaryPrefixFor, binaryTick, joined, prefixFor, trimmed } from "../../text/format";
import { type Axis, type Spec, largest, xValue } from "../spec";
import { linearUpTo } from "./symlog";
import type { Palette } from "../theme";
import { inBothZones } from "../../text/times";
import { commonDate, isOverYears, timeTick, timeTicks } from "./time_ticks";
import { hasPlace, hasPlacedValues, heatRange, linearRange, logRange, magnitude, symlogRange } from "./value_range";

/** The part of an axis that is shown. */
export interface Range {
  low: number;
  high: number;
}

const MOST_TICKS = 9;
// The labels that a decade of so many pixels has room for: two lie at least a line apart.
const DECADE_STEPS = [{ from: 100, steps: [1, 2, 3, 5, 7] }, { from: 75, steps: [1, 2, 5] }, { from: 40, steps: [1, 5] }];
const FEWEST_LABELS = 2;
// Room beside the first and the last point, so that no marker is cut.
const EDGE = 1.25;
// Names that don't fit beside each other, as on paper, stand aslant before one is left out.
const MOST_ROTATION = 60;
const MOST_NAMES = 12;
// On both sides of a time that stands alone, in milliseconds.
const HALF_HOUR = 30 * 60 * 1000;

/** The whole range of x. */
export function fullRange(spec: Spec): Range {
  if (spec.x.scale === "category") return { low: -0.5, high: spec.x.categories.length - 0.5 };
  if (spec.x_from && spec.x_to) return { low: Date.parse(spec.x_from), high: Date.parse(spec.x_to) };
  const values = spec.series.flatMap(({ points }) => points.map(({ x }) => xValue(spec, x))).filter((each) => hasPlace(spec.x.scale, each));
  const ends = spec.heat ? spec.heat.ends.map((end) => Date.parse(end)) : [];
  const low = values.reduce((best, each) => Math.min(best, each), Infinity);
  const high = [...values, ...ends].reduce((best, each) => Math.max(best, each), -Infinity);
  if (!Number.isFinite(low)) return { low: 1, high: 2 };
  if (isLogarithmic(spec.x)) return { low: low / EDGE, high: high * EDGE };
  const room = (high - low) * 0.03 || (spec.x.scale === "time" ? HALF_HOUR : 0.5);
  return { low: spec.x.from_zero ? 0 : low - room, high: high + room };
}

/** Options of the x axis for the range in view. */
export function xScale(spec: Spec, range: Range, colors: Palette): ScaleOptions {
  const type = isLogarithmic(spec.x) ? "logarithmic" : "linear";
  return {
    type,
    min: range.low,
    max: range.high,
    title: { display: true, text: xTitle(spec.x, range), color: colors.soft, font: { size: 12 } },
    grid: { color: colors.rule, drawTicks: false },
    border: { color: colors.rule },
    ticks: {
      includeBounds: false, color: colors.soft, padding: 6, maxRotation: spec.x.scale === "category" ? MOST_ROTATION : 0, autoSkip: spec.x.scale !== "category" || spec.x.categories.length > MOST_NAMES, autoSkipPadding: 12, font: { size: 11 },
      callback: (value: string | number) => xTick(spec, Number(value), isOverYears(range.low, range.high)),
    },
    afterBuildTicks: (axis: { min: number; max: number; ticks: { value: number }[] }) => {
      const ticks = fixedTicks(spec, axis.min, axis.max);
      if (ticks) axis.ticks = ticks.map((value) => ({ value }));
    },
  } as unknown as ScaleOptions;
}

/** Options of the y axis; `top` is the common maximum of the charts of one quantity. */
export function yScale(spec: Spec, top: number, colors: Palette): ScaleOptions {
  const [factor, prefix] = yFactor(spec, top);
  const isLog = isLogarithmic(spec.y);
  // Without a tick the title has the unit.
  const hasOwnUnits = (isLog || spec.y.scale === "symlog") && spec.y.unit === "s" && (hasPlacedValues(spec) || Boolean(spec.heat));
  return {
    ...yRange(spec, top),
    ...(spec.strip ? { stack: "y", stackWeight: 5, weight: 1 } : {}),
    title: { display: true, text: hasOwnUnits ? spec.y.label : yTitle(spec.y, prefix), color: colors.soft, font: { size: 12 } },
    grid: { color: colors.rule, drawTicks: false },
    border: { display: false },
    ticks: {
      // Numbers on the axis of nothing would be made up.
      display: hasPlacedValues(spec) || spec.lines.some(({ y }) => hasPlace(spec.y.scale, y)) || Boolean(spec.heat),
      autoSkip: spec.y.scale !== "symlog",
      color: colors.soft, padding: 6, maxTicksLimit: isLog ? 12 : 6, font: { size: 11 }, includeBounds: !spec.heat,
      ...(spec.y.unit === "B" && spec.y.scale === "linear" ? { stepSize: evenStep(Math.max(top, magnitude(spec)) / factor) * factor } : {}),
      callback(this: { height: number }, value: string | number, _index: number, ticks: { value: number }[]) {
        if (isLog && !isEvenTick(Number(value), ticks, this.height)) return null;
        return hasOwnUnits ? ownTick(Number(value), spec.y.unit) : trimmed(Number(value) / factor);
      },
    },
  } as unknown as ScaleOptions;
}

/** Tell whether a tick of a logarithmic axis has a label: the lower a decade is, the fewer, so that none touches another. */
export function isEvenTick(value: number, ticks: { value: number }[], pixels: number): boolean {
  const decades = Math.log10((ticks.at(-1)?.value ?? 1) / (ticks[0]?.value || 1));
  const decade = pixels / Math.max(decades, 0.1);
  const steps = DECADE_STEPS.find(({ from }) => decade >= from)?.steps ?? [1];
  const isEven = (each: number): boolean => steps.some((step) => Math.abs(leading(each) - step) < 1e-6);
  // Within a part of a decade there may be no such step: an axis without labels would tell nothing.
  return isEven(value) || ticks.filter((tick) => isEven(tick.value)).length < FEWEST_LABELS;
}

/** The number before the power of ten: 1.5 of 150. */
function leading(value: number): number {
  return value / 10 ** Math.floor(Math.log10(value) + 1e-9);
}

/** A tick with its own prefix: over decades 50 ms is read more easily than 50000 µs. */
function ownTick(value: number, unit: string): string {
  const [factor, prefix] = prefixFor(value, unit);
  return `${trimmed(value / factor)} ${joined(prefix, unit)}`;
}

/** The kind of the y axis and its range. */
function yRange(spec: Spec, top: number): object {
  if (spec.y.scale === "symlog") return { type: "symlog", linear: linearUpTo(spec), ...symlogRange(spec) };
  const fitted = spec.heat ? heatRange(spec) : null;
  if (isLogarithmic(spec.y)) return { type: "logarithmic", ...(fitted ?? logRange(spec)) };
  return { type: "linear", ...(fitted ?? linearRange(spec, top)) };
}

/** Options of the strip's own axis, below the chart's. */
export function stripScale(spec: Spec, colors: Palette): ScaleOptions {
  const axis = spec.strip?.y ?? spec.y;
  const shown = { ...spec, y: axis, series: spec.strip?.series ?? [] };
  const top = largest(shown);
  const [factor, prefix] = yFactor(shown, top);
  return {
    type: "linear", axis: "y", position: "left", stack: "y", stackWeight: 1, min: 0, max: (top || factor) * 1.3,
    title: { display: true, text: yTitle(axis, prefix), color: colors.soft, font: { size: 11 } },
    grid: { color: colors.rule, drawTicks: false },
    border: { display: false },
    ticks: { color: colors.soft, padding: 6, maxTicksLimit: 3, includeBounds: false, font: { size: 10 }, callback: (value: string | number) => trimmed(Number(value) / factor) },
  } as unknown as ScaleOptions;
}

/** An x value in words: `16 KiB`, a category, a time in the reader's zone and in UTC. */
export function xText(spec: Spec, value: number): string {
  if (spec.x.scale === "category") return spec.x.categories[Math.round(value)] ?? "";
  if (spec.x.scale === "time") return inBothZones(new Date(value));
  if (spec.x.unit === "B") {
    const tick = binaryTick(value);
    return tick.endsWith("i") ? `${tick}B` : `${tick} B`;
  }
  return `${trimmed(value)} ${spec.x.unit}`.trim();
}

export function isLogarithmic(axis: Axis): boolean {
  return axis.scale === "log2" || axis.scale === "log";
}

/** A step of 1, 2 or 5 times a power of ten for about five ticks: sizes in MiB would stand at odd places otherwise. */
function evenStep(top: number): number {
  if (top <= 0) return 1;
  const rough = top / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((step) => step * power >= rough) ?? 10);
}

function yFactor(spec: Spec, top: number): [number, string] {
  if (spec.y.unit === "ratio") return [0.01, "%"];
  if (spec.y.unit === "B") return binaryPrefixFor(Math.max(top, magnitude(spec)));
  return prefixFor(Math.max(top, magnitude(spec)), spec.y.unit);
}

/** A long title in two lines: on paper a chart is too low for one. */
function yTitle(axis: Axis, prefix: string): string | string[] {
  const unit = axis.unit === "ratio" ? "%" : joined(prefix, axis.unit);
  if (!unit) return axis.label;
  const title = `${axis.label} (${unit})`;
  return title.length > 28 ? [axis.label, `(${unit})`] : title;
}

function xTitle(axis: Axis, range: Range): string {
  if (axis.scale === "time") return [axis.label, commonDate(range.low, range.high)].filter(Boolean).join(" · ");
  return axis.unit ? `${axis.label} (${axis.unit})` : axis.label;
}

function xTick(spec: Spec, value: number, hasYears: boolean): string {
  if (spec.x.scale === "category") return spec.x.categories[value] ?? "";
  if (spec.x.scale === "time") return timeTick(value, hasYears);
  return spec.x.scale === "log2" ? binaryTick(value) : trimmed(value);
}

export function fixedTicks(spec: Spec, low: number, high: number): number[] | null {
  if (spec.x.scale === "category") {
    return spec.x.categories.map((_, index) => index).filter((index) => index >= low && index <= high);
  }
  if (spec.x.scale === "time") return timeTicks(low, high);
  const given = spec.x.ticks.filter((tick) => tick >= low && tick <= high);
  // What was measured, such as one and two cores, where each has room: between them is nothing.
  if (spec.x.scale === "linear") return given.length === spec.x.ticks.length && haveRoom(given, high - low) ? given : null;
  if (spec.x.scale !== "log2") return null;
  // Of a part of the sizes that was zoomed to, one may be left: it says too little of the axis. An only size says all.
  const isOnly = given.length === 1 && spec.x.ticks.length === 1;
  return given.length > 1 || isOnly ? thinned(given) : powersOfTwo(low, high);
}

function haveRoom(ticks: number[], range: number): boolean {
  return ticks.length > 0 && ticks.every((tick, index) => index === 0 || tick - (ticks[index - 1] ?? tick) >= range / MOST_TICKS);
}

function powersOfTwo(low: number, high: number): number[] {
  const first = Math.ceil(Math.log2(Math.max(low, 1)) - 1e-9);
  const last = Math.floor(Math.log2(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / MOST_TICKS));
  const powers: number[] = [];
  for (let power = first; power <= last; power += step) powers.push(2 ** power);
  return powers;
}

function thinned(ticks: number[]): number[] {
  const step = Math.ceil(ticks.length / MOST_TICKS);
  return ticks.filter((_, index) => index % step === 0);
}
