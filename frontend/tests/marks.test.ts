import assert from "node:assert/strict";
import { test } from "node:test";

import { DASHES, marked } from "../src/charts/marks";

test("points with room are marked, and those that no line leads to", () => {
  assert.deepEqual(marked([0, 10, 20, 30, 40], 20), [0, 2, 4]);
  assert.deepEqual(marked([0, 10, NaN, 12, NaN, 14, 16], 20), [0, 3]);
  assert.deepEqual(marked([NaN, 3, NaN], 20), [1]);
  assert.deepEqual(marked([], 20), []);
  // Of two runs both are seen, unless they are one marker.
  assert.deepEqual(marked([0, 12], 20), [0, 1]);
  assert.deepEqual(marked([0, 8], 20), [0]);
});

test("no two dashes are alike, and each fits its legend's line", () => {
  const all = Object.values(DASHES);
  assert.equal(new Set(all.map(String)).size, all.length);
  for (const dash of all) assert.ok(dash.reduce((sum, each) => sum + each, 0) <= 24);
});
