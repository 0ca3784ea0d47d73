import assert from "node:assert/strict";
import { test } from "node:test";

import { type Spec, received } from "../../src/charts/spec";
import { csv, idColumns, rows } from "../../src/charts/table";

const [measured, lost] = [
  { x: 64, y: 100, n: 3, low: 90, high: 110, repetitions: [], href: "", reason: "" },
  { x: 1024, y: null, n: 0, low: null, high: null, repetitions: [], href: "", reason: "failed: peer lost" },
];

function sent(bands: object[]): Spec {
  const line = { id: "s", label: "Throughput", color: 0, dash: "solid", marker: "circle", points: [measured, lost], bands };
  return received([{ series: [line], table: { columns: [{ key: "series", label: "Series", unit: "" }], rows: null } }])[0] as Spec;
}

test("a table that is sent without rows has one for each point, with count, spread and reason", () => {
  assert.deepEqual(rows(sent([])), [
    { series: "Throughput", x: 64, n: 3, median: 100, low: 90, high: 110, spread: 0.1, reason: "" },
    { series: "Throughput", x: 1024, n: 0, median: null, low: null, high: null, spread: null, reason: "failed: peer lost" },
  ]);
  assert.equal(csv(sent([]).table.columns, rows(sent([]))), "series\r\nThroughput\r\nThroughput\r\n");
});

test("nested bands and the strip below have their figures in the table", () => {
  const bands = [{ key: "p1 to p99", label: "p1 至 p99", low: [70, null], high: [130, null] }, { key: "p50 to p90", label: "p50 至 p90", low: [100, null], high: [110, null] }];
  const other = { of: "t", label: "Throughput of another, loss", points: [{ ...measured, y: 0.5 }] };
  const strip = { series: [other, { of: "s", label: "Throughput, loss", points: [{ ...measured, y: 0.01 }] }] };
  const [first, second] = rows({ ...sent(bands), strip } as unknown as Spec);
  assert.deepEqual(
    [first?.["p1 to p99 low"], first?.["p1 to p99 high"], first?.["p50 to p90 low"], first?.["p50 to p90 high"], first?.["strip"]],
    [70, 130, 100, 110, 0.01],
  );
  assert.deepEqual([second?.["p1 to p99 low"], second?.["strip"]], [null, null]);
});

test("a CSV has the ids of each line's pair behind the table's columns, empty where a line is of no one pair", () => {
  const line = { id: "s", label: "a to b", color: 0, dash: "solid", marker: "circle", points: [measured], bands: [], ids: { pair_id: 7 } };
  const table = { columns: [{ key: "series", label: "Series", unit: "" }], rows: null };
  const spec = received([{ series: [line, { ...line, label: "all", ids: {} }], table }])[0] as Spec;
  assert.equal(csv([...spec.table.columns, ...idColumns(spec)], rows(spec)), "series,pair_id\r\na to b,7\r\nall,\r\n");
});

test("a table keeps rows of its own", () => {
  const spec = sent([]);
  spec.table.rows = [{ series: "own" }];
  assert.deepEqual(rows(spec), [{ series: "own" }]);
});

test("a band that is sent without borders has its points' extremes, a missing point being a gap", () => {
  assert.deepEqual(sent([{ label: "lowest to highest", low: null, high: null }]).series[0]?.bands, [
    { label: "lowest to highest", low: [90, null], high: [110, null] },
  ]);
  assert.deepEqual(sent([{ label: "p50 to p90", low: [1, 2], high: [3, 4] }]).series[0]?.bands, [
    { label: "p50 to p90", low: [1, 2], high: [3, 4] },
  ]);
});

test("what was measured is sent in short and put together with the gaps by time, what was measured first", () => {
  const [first, second] = ["2026-03-01T02:00:00.000000Z", "2026-03-01T02:00:00.500000Z"];
  const gap = { ...lost, x: first, reason: "run 3 failed" };
  const line = { id: "s", points: [gap], measured: [["2026-03-01T02:00:00Z", 100, 3, 90, 110, 7], [second, 120, 1, 120, 120, null]], bands: [{ label: "all", low: null, high: null }] };
  const strip = { series: [{ of: "s", points: [], measured: [[first, 0.5, 3, 0, 0.5, null]] }] };
  const spec = received([{ series: [line], strip }])[0] as Spec;
  assert.deepEqual(spec.series[0]?.points.map(({ x, y, n, href, reason }) => [x, y, n, href, reason]), [
    [first, 100, 3, "/runs/7", ""], [first, null, 0, "", "run 3 failed"], [second, 120, 1, "", ""],
  ]);
  assert.deepEqual(spec.series[0]?.bands?.[0]?.high, [110, null, 120]);
  assert.deepEqual(spec.strip?.series[0]?.points.map(({ x, y }) => [x, y]), [[first, 0.5]]);
});
