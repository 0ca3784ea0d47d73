import assert from "node:assert/strict";
import { test } from "node:test";

import { binaryTick, significant, text } from "../src/format";
import { relative } from "../src/times";
import { csv } from "../src/charts/table";

test("a throughput gets three significant digits and a prefix joined to its symbol", () => {
  assert.equal(text(16_312_345_678, "bit/s"), "16.3 Gbit/s");
});

test("a packet rate keeps its prefix apart from the word", () => {
  assert.equal(text(728_100, "pkt/s"), "728 k pkt/s");
});

test("a latency goes down to microseconds and never up to kiloseconds", () => {
  assert.equal(text(0.0000341, "s"), "34.1 µs");
  assert.equal(text(3600, "s"), "3600 s");
});

test("a value that rounds up to a thousand takes the next prefix", () => {
  assert.equal(text(999_600, "bit/s"), "1.00 Mbit/s");
});

test("missing is a dash and zero is zero", () => {
  assert.equal(text(null, "bit/s"), "—");
  assert.equal(text(0, "bit/s"), "0 bit/s");
});

test("a frame's size keeps all its digits", () => {
  assert.equal(text(1448, "B"), "1,448 B");
  assert.equal(text(8192, "B"), "8 KiB");
});

test("a ratio is shown in per cent", () => {
  assert.equal(text(0.0123, "ratio"), "1.23 %");
});

test("a count below one gets no milli prefix", () => {
  assert.equal(text(0.5, "transactions/s"), "0.500 transactions/s");
});

test("ticks of sizes are binary", () => {
  assert.deepEqual([1, 64, 1024, 16384, 1048576].map(binaryTick), ["1", "64", "1 Ki", "16 Ki", "1 Mi"]);
});

test("three significant digits without an exponent", () => {
  assert.deepEqual([1234, 99.95, 0.000012345].map(significant), ["1230", "100", "0.0000123"]);
});

test("a time within a day is relative, in words", () => {
  const now = new Date("2026-01-02T12:00:00Z");
  assert.equal(relative(new Date("2026-01-02T11:57:00Z"), now), "3 min ago");
  assert.equal(relative(new Date("2026-01-02T11:59:59Z"), now), "just now");
});

test("a missing value is an empty cell of the CSV and text with a comma is quoted", () => {
  const columns = [{ key: "size", label: "Size", unit: "B" }, { key: "value", label: "Rate, received", unit: "bit/s" }];
  assert.equal(csv(columns, [{ size: 64, value: null }]), 'Size [B],"Rate, received [bit/s]"\r\n64,\r\n');
});
