import assert from "node:assert/strict";
import { test } from "node:test";

import { columnUnit, binaryTick, significant, text } from "../../src/text/format";
import { inBothZones, relative } from "../../src/text/times";
import { csv } from "../../src/charts/table";
import { isDrag, within } from "../../src/charts/view/zoom";

test("a throughput gets three significant digits and a prefix joined to its symbol", () => {
  assert.equal(text(16_312_345_678, "bit/s"), "16.3 Gbit/s");
});

test("a packet rate keeps its prefix apart from the word", () => {
  assert.equal(text(728_100, "pkt/s"), "728 k pkt/s");
  assert.equal(text(3, "segments"), "3 segments");
  assert.equal(text(1.5, "segments"), "1.50 segments");
  assert.equal(text(999, "errors"), "999 errors");
  assert.equal(text(1_234, "errors"), "1.23 k errors");
  assert.equal(text(3, "transactions/s"), "3.00 transactions/s");
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
  assert.deepEqual([text(-0.00115, "s"), text(-3, "segments")], ["−1.15 ms", "−3 segments"]);
});

test("a time within a day is relative, in words", () => {
  const now = new Date("2026-01-02T12:00:00Z");
  assert.equal(relative(new Date("2026-01-02T11:57:00Z"), now), "3 min ago");
  assert.equal(relative(new Date("2026-01-02T11:59:59Z"), now), "just now");
  assert.deepEqual(
    ["11:56:20", "11:00:20", "04:05:00", "12:00:40", "12:59:40", "17:51:00", "18:00:00"].map((clock) => relative(new Date(`2026-01-02T${clock}Z`), now)),
    ["4 min ago", "1 h ago", "8 h ago", "in 40 s", "in 1 h", "in 5 h 51 min", "in 6 h"],
  );
});

test("a missing value is an empty cell of the CSV and text with a comma is quoted", () => {
  const columns = [{ key: "size", label: "Size", unit: "B" }, { key: "p1, p99 high", label: "Rate, received", unit: "bit/s" }];
  assert.equal(csv(columns, [{ size: 64, "p1, p99 high": null }]), 'size [B],"p1, p99 high [bit/s]"\r\n64,\r\n');
});

test("a chart's CSV keeps a spreadsheet from taking a name for a formula, and leaves numbers alone", () => {
  const columns = [{ key: "host", label: "=Host", unit: "" }, { key: "value", label: "Value", unit: "s" }];
  const rows = [{ host: '=HYPERLINK("http://example.org")', value: -1.5 }, { host: "+a", value: null }, { host: "@b", value: 2 }, { host: "a-b", value: 3 }, { host: "＝c", value: 4 }];
  assert.equal(csv(columns, rows), `host,value [s]\r\n"'=HYPERLINK(""http://example.org"")",-1.5\r\n'+a,\r\n'@b,2\r\na-b,3\r\n'＝c,4\r\n`);
});

test("a zoom in an address shows what the chart has, and nothing without an end", () => {
  assert.deepEqual(within({ low: -1e300, high: Infinity }, { low: 1, high: 9 }), { low: 1, high: 9 });
  assert.deepEqual(within({ low: 2, high: 3 }, { low: 1, high: 9 }), { low: 2, high: 3 });
  assert.equal(within({ low: 10, high: 20 }, { low: 1, high: 9 }), null);
  assert.equal(within({ low: NaN, high: 3 }, { low: 1, high: 9 }), null);
});

test("a time is told in UTC beside the reader's zone", () => {
  assert.match(inBothZones(new Date("2026-03-01T02:00:07Z")), /· 2026-03-01 02:00:07 UTC$/);
});

test("a pointer that has moved by eight pixels has drawn a range, and one that trembled has clicked", () => {
  assert.deepEqual([isDrag(100, 107), isDrag(100, 108), isDrag(100, 92)], [false, true, true]);
});

test("a column's numbers are written in one unit, that of the largest; sizes and counts exactly", () => {
  const written = (values: number[], unit: string): string[] => {
    const column = columnUnit(values, unit);
    return [column.unit, ...values.map(column.number)];
  };
  assert.deepEqual(written([940e6, 16.3e9, 0], "bit/s"), ["Gbit/s", "0.940", "16.3", "0"]);
  assert.deepEqual(written([0.0000012, 0.0154], "s"), ["ms", "0.00120", "15.4"]);
  assert.deepEqual(written([64, 1448, 16384], "B"), ["B", "64", "1,448", "16,384"]);
  assert.deepEqual(written([0.05, -0.5], "ratio"), ["%", "5.00", "−50.0"]);
  assert.deepEqual(written([], "bit/s"), ["bit/s"]);
});
