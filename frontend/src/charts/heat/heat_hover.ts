// What a heat map's hover tells: of the column under the pointer its percentiles, of the cell its range, share and count.
import type { Chart } from "chart.js";

import { text, trimmed } from "../../text/format";
import type { Heat, Spec } from "../spec";
import { say } from "../../text/words";

const PERCENTILES = ["p50", "p90", "p99"];
// Where the pointer was when a chart's tooltip was last placed; Chart.js tells it to positioners alone.
const pointers = new WeakMap<Chart, number>();

/** Keep how high the pointer stands, in pixels. */
export function keepPointer(chart: Chart, y: number): void {
  pointers.set(chart, y);
}

/** The lines of the hover over the column that starts at `start`; null where there is no column. */
export function heatLines(chart: Chart, spec: Spec, start: string): string[] | null {
  const column = spec.heat?.starts.indexOf(start) ?? -1;
  if (!spec.heat || column < 0) return null;
  const pointer = pointers.get(chart);
  const latency = pointer === undefined ? undefined : chart.scales["y"]?.getValueForPixel(pointer);
  const row = latency === undefined ? -1 : rowAt(spec.heat, latency);
  const cell = row < 0 ? [] : [cellText(spec, spec.heat, column, row)];
  return [...cell, percentiles(spec, column)];
}

/** The row that holds a latency; -1 outside of all. */
export function rowAt({ edges }: Heat, latency: number): number {
  const above = edges.findIndex((edge) => latency < edge);
  return above < 1 ? -1 : above - 1;
}

/** A cell in words: `64.0 µs to 69.8 µs: 12.3 %, 1,230 of 10,000 latencies`. */
export function cellText(spec: Spec, { edges, shares }: Heat, column: number, row: number): string {
  const share = shares[column]?.[row] ?? 0;
  const total = counted(spec, column);
  return say("{low} to {high}: {share} %, {count} of {total} latencies", {
    low: text(edges[row], spec.y.unit), high: text(edges[row + 1], spec.y.unit), share: trimmed(share * 100),
    count: Math.round(share * total).toLocaleString("en"), total: total.toLocaleString("en"),
  });
}

/** A column's percentiles, as its table has them. */
function percentiles(spec: Spec, column: number): string {
  const row = spec.table.rows?.[column] ?? {};
  const told = PERCENTILES.filter((name) => typeof row[name] === "number");
  return [...told.map((name) => `${name} ${text(row[name] as number, spec.y.unit)}`), `n=${counted(spec, column).toLocaleString("en")}`].join(" · ");
}

function counted(spec: Spec, column: number): number {
  return Number(spec.table.rows?.[column]?.["n"] ?? 0);
}
