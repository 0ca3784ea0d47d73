import assert from "node:assert/strict";
import { test } from "node:test";

import { levelAt, ringAt } from "../../../src/charts/drawing/levels";
import { type Spec, received } from "../../../src/charts/spec";
import { rows } from "../../../src/charts/table";

const night = (day: number): string => `2026-11-0${day}T02:00:00.000000Z`;
const level = (of: string, since: number, until: number, y: number): object => ({ of, since: night(since), until: night(until), y, low: null, high: null });

function spec(): Spec {
  const measured = [1, 2, 3, 4].map((day) => [`2026-11-0${day}T02:00:00Z`, day < 3 ? 100 : 70, 3, 60, 110, day]);
  const line = { id: "series-1", label: "a to b", color: 0, dash: "solid", marker: "circle", points: [], measured };
  const levels = [level("series-1", 1, 2, 100), level("series-1", 3, 4, 70), level("series-2", 1, 4, 5)];
  const rings = [{ at: night(3), y: 70, label: "first bad run", kind: "change" }];
  return received([{ series: [line], levels, rings, table: { columns: [], rows: null } }])[0] as Spec;
}

test("a point is of its own line's level, and of two that meet of the later", () => {
  assert.deepEqual([1, 2, 3, 4, 5].map((day) => levelAt(spec(), "series-1", night(day))?.y), [100, 100, 70, 70, undefined]);
  assert.equal(levelAt(spec(), "series-3", night(1)), undefined);
});

test("the table has the level of each run, and what a run is told apart for", () => {
  assert.deepEqual(rows(spec()).map((row) => [row["level"], row["mark"]]), [[100, ""], [100, ""], [70, "first bad run"], [70, ""]]);
  assert.equal(ringAt(spec(), night(4)), undefined);
});
