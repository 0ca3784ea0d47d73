import assert from "node:assert/strict";
import { test } from "node:test";

import { commonDate, isOverYears, timeTick, timeTicks } from "../../../src/charts/axes/time_ticks";

// Where clocks are set on 2026-03-29 at 01:00 UTC.
process.env["TZ"] = "Europe/Berlin";

const at = (text: string): number => Date.parse(text);
const clock = (tick: number): string => new Date(tick).toTimeString().slice(0, 5);

test("a day has ticks at full hours of the reader's clock", () => {
  const ticks = timeTicks(at("2026-01-10T08:20:00Z"), at("2026-01-11T08:20:00Z"));
  assert.deepEqual(ticks.map(clock), ["12:00", "15:00", "18:00", "21:00", "00:00", "03:00", "06:00", "09:00"]);
});

test("the hours keep to the clock where it is set", () => {
  const ticks = timeTicks(at("2026-03-28T12:00:00Z"), at("2026-03-30T12:00:00Z"));
  assert.deepEqual(ticks.map(clock), ["18:00", "00:00", "06:00", "12:00", "18:00", "00:00", "06:00", "12:00"]);
});

test("thirty days have a tick each week", () => {
  const ticks = timeTicks(at("2026-03-10T00:00:00Z"), at("2026-04-09T00:00:00Z"));
  assert.ok(ticks.length >= 4 && ticks.length <= 8);
  assert.deepEqual([...new Set(ticks.map(clock))], ["00:00"]);
});

test("midnight is told as the day that it begins", () => {
  assert.match(timeTick(at("2026-03-09T23:00:00Z")), /10/);
  // By 24 hours in every language, as the pages have it.
  assert.equal(timeTick(at("2026-03-10T11:30:00Z")), "12:30");
  assert.equal(timeTick(at("2026-03-10T15:05:05Z")), "16:05:05");
});

test("clock times are named by their days, days by their years unless they have them", () => {
  assert.match(commonDate(at("2026-03-10T08:00:00Z"), at("2026-03-10T09:00:00Z")), /10.*2026|2026.*10/);
  assert.match(commonDate(at("2026-03-10T22:30:00Z"), at("2026-03-10T23:30:00Z")), /10.*11.*2026|2026.*10.*11/);
  assert.equal(commonDate(at("2026-03-10T22:30:00Z"), at("2026-03-18T23:30:00Z")), "2026");
  assert.equal(commonDate(at("2025-03-10T22:30:00Z"), at("2026-03-10T23:00:00Z")), "2025–2026");
  assert.equal(commonDate(at("2024-03-10T22:30:00Z"), at("2026-03-10T23:00:00Z")), "");
});

test("days have their year where a span has more than one of each", () => {
  assert.equal(isOverYears(at("2025-03-10T00:00:00Z"), at("2026-03-10T00:00:00Z")), false);
  assert.equal(isOverYears(at("2024-03-10T00:00:00Z"), at("2026-03-10T00:00:00Z")), true);
  assert.match(timeTick(at("2026-03-09T23:00:00Z"), true), /2026/);
});
