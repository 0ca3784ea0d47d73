import assert from "node:assert/strict";
import { test } from "node:test";

import { crossPlaces } from "../../../src/charts/drawing/crosses";

test("crosses that would lie over each other are one place, with each line once", () => {
  const missing = [{ x: 100, of: "b" }, { x: 10, of: "a" }, { x: 12, of: "b" }, { x: 13, of: "a" }, { x: 18, of: "c" }];
  assert.deepEqual(crossPlaces(missing, 8), [{ x: 10, of: ["a", "b"] }, { x: 18, of: ["c"] }, { x: 100, of: ["b"] }]);
  assert.deepEqual(crossPlaces([], 8), []);
});
