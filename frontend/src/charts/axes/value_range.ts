// The range of the y axis: from all that a chart draws, on an axis of any kind.
import { type Spec, largest } from "../spec";

// A spread may reach so many times as far from zero as the lines; beyond that it is cut.
const MOST_BEYOND_LINE = 4;
// The top of an axis of shares that are all zero: 1 %.
const TOP_OF_NO_SHARE = 0.01;
const ROOM_RATIO = 0.1;

/** All finite values that a chart draws in its area, borders of spreads included. */
export function drawnValues(spec: Spec): number[] {
  return [...lineValues(spec), ...bandValues(spec)];
}

/** Whether an axis of this scale has a place for the value. */
export function hasPlace(scale: string, value: number | null | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && (scale === "log" || scale === "log2" ? value > 0 : true);
}

/** The lowest value below zero, else zero; a spread counts as far as it may reach. */
export function lowest(spec: Spec): number {
  const line = least(lineValues(spec));
  const reach = Math.max(largest(spec), -line) * MOST_BEYOND_LINE;
  return Math.min(line, least(bandValues(spec).filter((each) => each >= -reach)));
}

/** How far from zero a chart's values reach: it chooses the unit's prefix. */
export function magnitude(spec: Spec): number {
  return Math.max(largest(spec), -lowest(spec));
}

/** Options for the range of a linear axis; `top` is the common maximum of the charts of one quantity. */
export function linearRange(spec: Spec, top: number): { beginAtZero: boolean; suggestedMin?: number; suggestedMax?: number } {
  const values = lineValues(spec);
  const [low, high] = [extreme(values, Math.min), extreme(values, Math.max)];
  const isShare = spec.y.unit === "ratio";
  if (isShare && low === 0 && high === 0) return { beginAtZero: true, suggestedMin: 0, suggestedMax: Math.max(top, TOP_OF_NO_SHARE) };
  // Of equal shares only zero tells how much they are.
  const isFromZero = spec.y.from_zero || (isShare && low === high);
  const bottom = isFromZero ? lowest(spec) : low;
  return {
    beginAtZero: isFromZero,
    ...(values.length && (bottom !== 0 || isFromZero) ? { suggestedMin: bottom } : {}),
    ...(top > 0 ? { suggestedMax: top } : {}),
  };
}

// Of a calm line the noise must not fill the height: so much of the largest value spans it at least.
const LEAST_SPAN_RATIO = 0.1;
const SMALL_ROOM_RATIO = 0.08;

/** The range of a small chart's axis: its values, levels and limits, and of a wide band half as much again on each side. */
export function drawnRange(spec: Spec): { min: number; max: number } {
  const points = spec.series.flatMap(({ points: all }) => all.map(({ y }) => y));
  const others = [...(spec.levels ?? []), ...spec.lines].map(({ y }) => y);
  const values = finite([...points, ...others, ...(spec.y.from_zero ? [0] : [])]);
  if (!values.length) return { min: 0, max: 1 };
  let [min, max] = [extreme(values, Math.min), extreme(values, Math.max)];
  const missing = LEAST_SPAN_RATIO * Math.max(Math.abs(min), Math.abs(max)) - (max - min);
  if (missing > 0) [min, max] = [min - missing / 2, max + missing / 2];
  // Where there are bands, nothing else tells the spread.
  const bands = spec.series.some(({ bands: all }) => all?.length) ? bandValues(spec) : lineValues(spec);
  // A single value has no line that its range would flatten.
  const reach = finite(points).length === 1 ? Infinity : (max - min) / 2;
  const room = (max - min) * SMALL_ROOM_RATIO;
  const low = Math.max(min - reach, Math.min(min, extreme(bands, Math.min))) - room;
  const high = Math.min(max + reach, Math.max(max, extreme(bands, Math.max))) + room;
  // What is never below zero has no room there.
  return { min: extreme(values, Math.min) >= 0 ? Math.max(0, low) : low, max: high > low ? high : low + 1 };
}

/** On a logarithmic axis the outermost bands and whiskers fit too, with room for a marker. */
export function logRange(spec: Spec): { suggestedMin?: number; suggestedMax?: number } {
  const positive = drawnValues(spec).filter((each) => each > 0);
  if (!positive.length) return {};
  return { suggestedMin: extreme(positive, Math.min) * (1 - ROOM_RATIO), suggestedMax: extreme(positive, Math.max) * (1 + ROOM_RATIO) };
}

/** The same on an axis that is logarithmic on both sides of zero, which is always on it. */
export function symlogRange(spec: Spec): { suggestedMin: number; suggestedMax: number } {
  const values = drawnValues(spec);
  const [low, high] = [Math.min(0, extreme(values, Math.min)), Math.max(0, extreme(values, Math.max))];
  const room = 1 + ROOM_RATIO;
  return low < 0 || high > 0 ? { suggestedMin: low * room || 0, suggestedMax: high * room } : { suggestedMin: 0, suggestedMax: 1 };
}

/** The rows of a heat map that a logarithmic axis has a place for. */
export function heatRange(spec: Spec): { min?: number; max?: number } {
  const edges = (spec.heat?.edges ?? []).filter((each) => hasPlace(spec.y.scale, each));
  const [min, max] = [edges[0], edges.at(-1)];
  return min !== undefined && max !== undefined && min < max ? { min, max } : {};
}

/** Whether there is a value that an axis of this scale has a place for: an axis of none has no numbers. */
export function hasPlacedValues({ series, y: { scale } }: Spec): boolean {
  return series.some(({ points }) => points.some(({ y, high }) => hasPlace(scale, y) || hasPlace(scale, high)));
}

function lineValues({ series }: Spec): number[] {
  return finite(series.flatMap(({ points }) => points.flatMap(({ y, low, high, repetitions }) => [y, low, high, ...repetitions])));
}

function bandValues({ series }: Spec): number[] {
  return finite(series.flatMap(({ bands }) => (bands ?? []).flatMap(({ low, high }) => [...low, ...high])));
}

function finite(values: (number | null)[]): number[] {
  return values.filter((each): each is number => typeof each === "number" && Number.isFinite(each));
}

function least(values: number[]): number {
  return values.reduce((best, each) => Math.min(best, each), 0);
}

/** Zero for no values at all. */
function extreme(values: number[], choose: (a: number, b: number) => number): number {
  return values.reduce((best, each) => choose(best, each), values[0] ?? 0);
}
