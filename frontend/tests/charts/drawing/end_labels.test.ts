import assert from "node:assert/strict";
import { test } from "node:test";

import { apart } from "../../../src/charts/drawing/end_labels";
import { barWidth } from "../../../src/charts/drawing/time_drawing";

const end = (id: string, from: number): { id: string; words: string; from: number; y: number } => ({ id, words: id, from, y: from });

test("names at the lines' ends stand in their lines' order, none over another, none below the chart", () => {
  const placed = apart([end("c", 98), end("a", 10), end("b", 96)], 0, 100).map(({ id, y }) => [id, y]);
  assert.deepEqual(placed, [["a", 10], ["b", 85], ["c", 100]]);
  assert.deepEqual(apart([end("a", 10), end("b", 12)], 0, 100).map(({ y }) => y), [10, 25]);
});

test("a night's bar is half as wide as the nights are apart, and never too thin to be seen", () => {
  assert.equal(barWidth([0, 8, 16, 40]), 4);
  assert.equal(barWidth([0, 100, 200]), 6);
  assert.equal(barWidth([0, 0.5, 1]), 1);
  assert.equal(barWidth([5]), 6);
});
