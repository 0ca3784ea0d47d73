import assert from "node:assert/strict";
import { test } from "node:test";

import { fixedTicks, isEvenTick } from "../../../src/charts/axes/axes";
import type { Spec } from "../../../src/charts/spec";

const labelled = (values: number[], pixels = 180): number[] => values.filter((value) => isEvenTick(value, values.map((each) => ({ value: each })), pixels));

const labelledAt = (scale: string, ticks: number[]): Spec => ({ x: { scale, ticks } }) as unknown as Spec;

test("an only size has its label, whatever it is; zoomed to, powers of two tell more than one size", () => {
  const sized = (...ticks: number[]): Spec => labelledAt("log2", ticks);
  assert.deepEqual(fixedTicks(sized(1400), 1120, 1750), [1400]);
  assert.deepEqual(fixedTicks(sized(64, 1400, 8192), 51, 10240), [64, 1400, 8192]);
  assert.deepEqual(fixedTicks(sized(64, 1400, 8192), 500, 5000), [512, 1024, 2048, 4096]);
});

test("a linear axis is labelled with what was measured where each has room, else evenly", () => {
  const linear = (...ticks: number[]): Spec => labelledAt("linear", ticks);
  assert.deepEqual(fixedTicks(linear(1), 0.5, 1.5), [1]);
  assert.deepEqual(fixedTicks(linear(1, 2, 4), 0.9, 4.1), [1, 2, 4]);
  assert.equal(fixedTicks(linear(1, 2, 4, 64), 0, 66), null);
  assert.equal(fixedTicks(linear(1, 2), 1.5, 2.5), null);
  assert.equal(fixedTicks(linear(), 0, 10), null);
});

test("the more decades a logarithmic axis has, the fewer of its ticks have a label", () => {
  const ticks = (from: number, decades: number): number[] => Array.from({ length: decades }, (_, power) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((step) => step * from * 10 ** power)).flat().concat(from * 10 ** decades);
  assert.deepEqual(labelled(ticks(1, 1)), [1, 2, 3, 5, 7, 10]);
  assert.deepEqual(labelled([46.3, 50, 150, 200, 2000]), [50, 200, 2000]);
  assert.deepEqual(labelled([12, 13, 14, 15]), [12, 13, 14, 15]);
  assert.deepEqual(labelled(ticks(1, 2)), [1, 2, 5, 10, 20, 50, 100]);
  assert.deepEqual(labelled(ticks(1, 3)), [1, 5, 10, 50, 100, 500, 1000]);
  assert.deepEqual(labelled(ticks(1, 3), 100), [1, 10, 100, 1000]);
  assert.deepEqual(labelled(ticks(1e-6, 5)).map((value) => Math.round(Math.log10(value))), [-6, -5, -4, -3, -2, -1]);
});
