import assert from "node:assert/strict";
import { test } from "node:test";

import { DASHES, marked } from "../../../src/charts/drawing/marks";

test("points with room are marked, those that no line leads to, and the latest", () => {
  const many = Array.from({ length: 13 }, (_, place) => place * 10);
  assert.deepEqual(marked(many, 25), [0, 3, 6, 9, 12]);
  assert.deepEqual(marked([...many, 130], 25), [0, 3, 6, 9, 12, 13]);
  assert.deepEqual(marked([...many, 125], 25), [0, 3, 6, 9, 12]);
  assert.deepEqual(marked([...many, NaN, 126, NaN], 25), [0, 3, 6, 9, 12, 14]);
  assert.deepEqual(marked([NaN, 3, NaN], 25), [1]);
  assert.deepEqual(marked([], 25), []);
});

test("of few points each is marked, however near", () => {
  assert.deepEqual(marked([0, 1, NaN, 12, 14], 25), [0, 1, 3, 4]);
});

test("no two dashes are alike, and each fits its legend's line", () => {
  const all = Object.values(DASHES);
  assert.equal(new Set(all.map(String)).size, all.length);
  for (const dash of all) assert.ok(dash.reduce((sum, each) => sum + each, 0) <= 24);
});
