// What a logarithmic axis leaves out, in words: a line with a gap there would be taken for one without values.
import { isLogarithmic } from "./axes/axes";
import type { Series, Spec, SpecPoint } from "./spec";
import { hasPlace } from "./axes/value_range";
import { say } from "../text/words";

/** How many of a line's values are left out, and how many of its spreads are cut; `of…` are all that it has. */
export interface LeftOut {
  label: string;
  values: number;
  of: number;
  spreads: number;
  ofSpreads: number;
}

/** What the axes of a specification leave out of each line; `hidden` lines are none that a reader misses. */
export function leftOut(spec: Spec, hidden: ReadonlySet<string> = new Set()): LeftOut[] {
  if (!isLogarithmic(spec.x) && !isLogarithmic(spec.y)) return [];
  return spec.series.filter(({ id }) => !hidden.has(id)).map((series) => ofLine(spec, series)).filter(({ values, spreads }) => values + spreads > 0);
}

/** The same as sentences for below the chart and for its accessible text; empty where all is shown. */
export function leftOutWords(spec: Spec, hidden: ReadonlySet<string> = new Set()): string {
  const found = leftOut(spec, hidden);
  const values = found.filter((line) => line.values).map((line) => say("{number} of {total} values of {line}", { line: line.label, number: line.values, total: line.of }));
  const spreads = found.filter((line) => line.spreads).map((line) => say("{number} of {total} spreads of {line}", { line: line.label, number: line.spreads, total: line.ofSpreads }));
  return [
    values.length ? say("Not shown, because a log axis can't show zero or negative values: {lines}.", { lines: values.join("; ") }) : "",
    spreads.length ? say("Clipped at the bottom of the axis because they reach zero or below: {lines}.", { lines: spreads.join("; ") }) : "",
  ].filter(Boolean).join(" ");
}

/** Whether a point has a place on both axes. */
export function isShown(spec: Spec, { x, y }: SpecPoint): boolean {
  return hasPlace(spec.y.scale, y) && (typeof x !== "number" || hasPlace(spec.x.scale, x));
}

function ofLine(spec: Spec, { label, points, bands }: Series): LeftOut {
  const valued = points.filter(({ y }) => typeof y === "number" && Number.isFinite(y));
  const isCut = (low: number | null | undefined): boolean => typeof low === "number" && !hasPlace(spec.y.scale, low);
  const spreads = points
    .map((point, place) => (isShown(spec, point) ? [point.low, ...(bands ?? []).map(({ low }) => low[place]), ...point.repetitions] : []))
    .filter((ends) => ends.some((end) => typeof end === "number"));
  return { label, of: valued.length, values: valued.filter((point) => !isShown(spec, point)).length, spreads: spreads.filter((ends) => ends.some(isCut)).length, ofSpreads: spreads.length };
}
