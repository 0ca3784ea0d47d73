import assert from "node:assert/strict";
import { test } from "node:test";

import { reasons } from "../../src/charts/config";
import type { SpecPoint } from "../../src/charts/spec";
import { wrapped } from "../../src/charts/wrapping";

const within = (most: number) => (line: string): boolean => line.length <= most;

test("words break between words, Chinese between characters but never before punctuation", () => {
  assert.deepEqual(wrapped("run 978 nonstart: can't be reached", within(16)), ["run 978", "nonstart: can't", "be reached"]);
  assert.deepEqual(wrapped("连接不上，超时 3 秒", within(5)), ["连接不上，", "超时 3", "秒"]);
  assert.deepEqual(wrapped("unbreakable", within(3)), ["unbreakable"]);
  assert.deepEqual(wrapped("", within(3)), []);
});

test("a reason that many lines share is told once", () => {
  const point = (y: number | null, reason: string): SpecPoint => ({ x: 0, y, reason, n: 0, low: null, high: null, repetitions: [], href: "" });
  assert.deepEqual(
    reasons([point(null, "run 7 failed: peer lost"), point(1, ""), point(null, "run 7 failed: peer lost"), point(null, "")]),
    ["— run 7 failed: peer lost", "— missing"],
  );
});
