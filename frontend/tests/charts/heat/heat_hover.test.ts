import assert from "node:assert/strict";
import { test } from "node:test";

import { cellText, heatLines, keepPointer, rowAt } from "../../../src/charts/heat/heat_hover";
import type { Heat, Spec } from "../../../src/charts/spec";

const heat: Heat = {
  starts: ["2026-03-01T02:00:00Z", "2026-03-02T02:00:00Z"], ends: ["2026-03-02T02:00:00Z", "2026-03-03T02:00:00Z"],
  edges: [40e-6, 50e-6, 62.5e-6], shares: [[0.25, 0.75], [0, 1]],
};
const rows = [{ n: 10_000, p50: 52e-6, p90: 58e-6, p99: 61e-6 }, { n: 400, p50: 55e-6, p90: null, p99: 62e-6 }];
const spec = { y: { unit: "s" }, heat, table: { columns: [], rows } } as unknown as Spec;
const chart = (latency: number): never => ({ scales: { y: { getValueForPixel: () => latency } } }) as never;

test("a latency is in the row between whose edges it lies", () => {
  assert.deepEqual([39e-6, 40e-6, 49e-6, 50e-6, 62.5e-6].map((latency) => rowAt(heat, latency)), [-1, 0, 0, 1, -1]);
});

test("a cell tells its range, its share and how many latencies that is", () => {
  assert.equal(cellText(spec, heat, 0, 0), "40.0 µs to 50.0 µs: 25 %, 2,500 of 10,000 latencies");
  assert.equal(cellText(spec, heat, 1, 0), "40.0 µs to 50.0 µs: 0 %, 0 of 400 latencies");
});

test("the hover tells the cell under the pointer and the percentiles of its column", () => {
  const pointed = chart(55e-6);
  keepPointer(pointed, 120);
  assert.deepEqual(heatLines(pointed, spec, "2026-03-01T02:00:00Z"), [
    "50.0 µs to 62.5 µs: 75 %, 7,500 of 10,000 latencies", "p50 52.0 µs · p90 58.0 µs · p99 61.0 µs · n=10,000",
  ]);
  assert.deepEqual(heatLines(chart(55e-6), spec, "2026-03-02T02:00:00Z"), ["p50 55.0 µs · p99 62.0 µs · n=400"]);
});

test("where there is no column the hover says why instead", () => {
  assert.equal(heatLines(chart(55e-6), spec, "2026-03-05T02:00:00Z"), null);
});
