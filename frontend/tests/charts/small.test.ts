import assert from "node:assert/strict";
import { test } from "node:test";

import { drawnRange } from "../../src/charts/axes/value_range";
import { tick } from "../../src/charts/small";
import type { Spec, SpecPoint } from "../../src/charts/spec";

function spec(values: (number | null)[], more: Partial<Spec> = {}): Spec {
  const points: SpecPoint[] = values.map((y, x) => ({ x, y, n: 1, low: y, high: y, repetitions: [], href: "", reason: "" }));
  const axis = { label: "", unit: "bit/s", scale: "linear" as const, from_zero: false, ticks: [], categories: [] };
  const series = [{ id: "a", label: "a", color: 0, dash: "solid" as const, marker: "circle" as const, points }];
  return { id: "c", title: "", subtitle: "", form: "time", x: axis, y: axis, series, lines: [], table: { columns: [], rows: null }, csv_url: "", detail: "row", ...more };
}

test("the noise of a calm line doesn't fill the height: a tenth of its value spans it", () => {
  const { min, max } = drawnRange(spec([100, 101, null, 100]));
  assert.ok(min < 96 && max > 105 && max - min < 13, `${min} to ${max}`);
});

test("levels and limits are on the scale, and a night far out is too", () => {
  const { min, max } = drawnRange(spec([100, 101, 40], { lines: [{ label: "", y: 150 }] }));
  assert.ok(min <= 40 && max >= 150);
});

test("a wide band flattens no line: it reaches half as far again at most", () => {
  const wide = spec([100, 110]);
  for (const point of wide.series[0]?.points ?? []) Object.assign(point, { low: 0, high: 1000 });
  const { min, max } = drawnRange(wide);
  assert.ok(min > 90 && max < 120, `${min} to ${max}`);
});

test("the range of a single value is shown whole", () => {
  const single = spec([null, 100]);
  for (const point of single.series[0]?.points ?? []) if (point.y !== null) Object.assign(point, { low: 40, high: 130 });
  const { min, max } = drawnRange(single);
  assert.ok(min < 40 && max > 130, `${min} to ${max}`);
});

test("what is never negative has no room below zero, and what begins at zero begins there", () => {
  assert.equal(drawnRange(spec([0, 0, 0.1])).min, 0);
  assert.equal(drawnRange(spec([9, 10], { y: { label: "", unit: "", scale: "linear", from_zero: true, ticks: [], categories: [] } })).min, 0);
});

test("a scale without a value is no empty one", () => {
  const { min, max } = drawnRange(spec([null, null]));
  assert.ok(max > min);
});

test("a tick has the prefix of the largest", () => {
  assert.equal(tick(9.4e9, 1.01e10, "bit/s", false), "9.4 G");
  assert.equal(tick(1.38e-4, 2e-4, "s", true), "138 µs");
  assert.equal(tick(0, 2e5, "pkt/s", false), "0");
  assert.equal(tick(0.03, 0.05, "ratio", false), "3 %");
  assert.equal(tick(1.6e-4, 1.1e-3, "s", true), "160 µs");
  assert.equal(tick(1.6e8, 1.1e9, "bit/s", true), "160 M");
});
