import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { ResizeObserver: class { observe(): void {} } });
const { edges } = await import("../../src/tables/edges");

test("an edge fades only where there is more beyond it", () => {
  assert.equal(edges(0, 390, 390), "");
  assert.equal(edges(0, 390, 391), "");
  assert.equal(edges(0, 390, 700), "right");
  assert.equal(edges(100, 390, 700), "left right");
  assert.equal(edges(310, 390, 700), "left");
  assert.equal(edges(100, 390, 700, ["up", "down"]), "up down");
});
