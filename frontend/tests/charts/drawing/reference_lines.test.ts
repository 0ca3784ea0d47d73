import assert from "node:assert/strict";
import { test } from "node:test";

import { type Box, leastHiding, stacks } from "../../../src/charts/drawing/reference_lines";

const [right, left, below]: Box[] = [
  { left: 80, right: 100, top: 0, bottom: 10 }, { left: 0, right: 20, top: 0, bottom: 10 }, { left: 80, right: 100, top: 20, bottom: 30 },
] as [Box, Box, Box];
const choices = [right, left, below] as Box[];

test("a line's name stands at the right unless it would hide points there", () => {
  assert.equal(leastHiding(choices, { drawn: [{ x: 50, y: 5 }], taken: [] }), right);
  assert.equal(leastHiding(choices, { drawn: [{ x: 90, y: 5 }], taken: [] }), left);
  assert.equal(leastHiding(choices, { drawn: [{ x: 90, y: 5 }, { x: 95, y: 5 }, { x: 10, y: 5 }, { x: 90, y: 25 }], taken: [] }), left);
});

test("it hides points sooner than another name or a flag", () => {
  const drawn = [{ x: 10, y: 5 }, { x: 12, y: 5 }, { x: 90, y: 25 }];
  assert.equal(leastHiding(choices, { drawn, taken: [{ left: 95, right: 99, top: 8, bottom: 12 }] }), below);
});

test("names of lines near each other stand on either side of their widest gap, or all on one where there is no room", () => {
  assert.deepEqual(stacks([50, 52, 60, 90], 0, 200), [34, 46, 72, undefined]);
  assert.deepEqual(stacks([50, 56], 0, 200), [46, 68]);
  assert.deepEqual(stacks([5, 8], 0, 200), [1, 20]);
  assert.deepEqual(stacks([188, 192], 0, 200), [172, 184]);
  assert.deepEqual(stacks([20, 40], 0, 200), [undefined, undefined]);
});
