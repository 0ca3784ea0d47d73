import assert from "node:assert/strict";
import { test } from "node:test";

import { CategoryScale, LinearScale, LogarithmicScale } from "chart.js";

import { fullRange, yScale } from "../../../src/charts/axes/axes";
import { axisChoice, offersSymlog } from "../../../src/charts/axes/axis_choice";
import { datasets } from "../../../src/charts/config";
import { leftOut, leftOutWords } from "../../../src/charts/left_out";
import type { Band, Series, Spec, SpecPoint } from "../../../src/charts/spec";
import { SymlogScale, inverse, linearUpTo, symlog, symlogTicks } from "../../../src/charts/axes/symlog";
import type { Palette } from "../../../src/charts/theme";
import { borderPixel, stretches } from "../../../src/charts/drawing/time_drawing";

const COLORS = { series: () => "#123456", soft: "#000000", rule: "#000000", ground: "#ffffff" } as unknown as Palette;

type Given = Partial<Omit<SpecPoint, "y">> & { y: number | null };

function line(given: (number | null | Given)[], label = "A", bands: Band[] = []): Series {
  const points = given.map((each, x) => ({ x: x + 1, n: 1, low: null, high: null, repetitions: [], href: "", reason: "", ...(typeof each === "object" && each ? each : { y: each }) }));
  return { id: label, label, color: 0, dash: "solid", marker: "circle", points, bands };
}

function spec(series: Series[], y: Partial<Spec["y"]> = {}, x: Partial<Spec["x"]> = {}): Spec {
  const axis = { label: "", unit: "", scale: "linear" as const, from_zero: true, ticks: [], categories: [] };
  return { id: "c", title: "", subtitle: "", form: "time", x: { ...axis, ...x }, y: { ...axis, ...y }, series, lines: [], table: { columns: [], rows: null }, csv_url: "" };
}

const log = (...series: Series[]): Spec => spec(series, { unit: "s", scale: "log" });
const share = (values: (number | null)[], isFromZero = true): Spec => spec([line(values)], { unit: "ratio", from_zero: isFromZero });

/** The lower and the upper end that the charting library makes of an axis. */
function ends(of: Spec, top = 0): [number, number] {
  const options = yScale(of, top, COLORS) as unknown as { type: string };
  const type = { linear: LinearScale, logarithmic: LogarithmicScale, symlog: SymlogScale }[options.type] ?? CategoryScale;
  const values = datasets(of, new Set(), COLORS).flatMap(({ data }) => data.map(({ y }) => Number(y))).filter(Number.isFinite);
  const scale = new (type as new (each: object) => LinearScale)({ id: "y", type: options.type, ctx: null, chart: {} });
  Object.assign(scale, { options: { ...options, grid: {} } });
  const given = options as { min?: number; max?: number; suggestedMin?: number; suggestedMax?: number };
  const [least, most] = [Math.min(...values, given.suggestedMin ?? Infinity), Math.max(...values, given.suggestedMax ?? -Infinity)];
  Object.assign(scale, { getMinMax: () => ({ min: Number.isFinite(least) ? least : 0, max: Number.isFinite(most) ? most : 0 }), getUserBounds: () => ({ min: -Infinity, max: Infinity, minDefined: given.min !== undefined, maxDefined: given.max !== undefined }) });
  scale.determineDataLimits();
  return [scale.min, scale.max];
}

const drawn = (of: Spec): (number | null)[] => (datasets(of, new Set(), COLORS)[0]?.data ?? []).map(({ y }) => (Number.isFinite(y) ? y : null));

test("shares that are all zero stand at the bottom of a small range, whatever the axis begins with", () => {
  for (const isFromZero of [true, false]) {
    assert.deepEqual(ends(share([0, 0, 0], isFromZero)), [0, 0.01]);
    assert.deepEqual(ends(share([0], isFromZero)), [0, 0.01]);
    assert.deepEqual(ends(share([null, 0, NaN], isFromZero)), [0, 0.01]);
  }
  assert.deepEqual(ends(share([0, 0]), 0.4), [0, 0.4]);
});

test("equal shares are measured from zero, and a value of none has an axis without numbers", () => {
  for (const isFromZero of [true, false]) {
    const [low, high] = ends(share([0.05, 0.05], isFromZero), 0.05);
    assert.equal(low, 0);
    assert.ok(high >= 0.05);
    assert.equal(ends(share([1], isFromZero), 1)[0], 0);
  }
  const ticks = (of: Spec): boolean => (yScale(of, 0, COLORS) as unknown as { ticks: { display: boolean } }).ticks.display;
  assert.equal(ticks(share([null, null])), false);
  assert.equal(ticks(share([NaN])), false);
  assert.equal(ticks(log(line([0, 0, -1]))), false);
  assert.equal(ticks(log(line([0, 1]))), true);
});

test("negative values and the lower ends of spreads are on a linear axis", () => {
  assert.ok(ends(share([-0.2, 0.1]), 0.1)[0] <= -0.2);
  const whiskers = spec([line([{ y: 1, n: 3, low: -2, high: 3 }])]);
  assert.ok(ends(whiskers, 3)[0] <= -2);
  const banded = spec([line([1, 2], "A", [{ key: "", label: "", low: [-1, -3], high: [2, 3] }])]);
  assert.ok(ends(banded, 3)[0] <= -3);
  const unlimited = spec([line([1, 2], "A", [{ key: "", label: "", low: [-1e9, 0], high: [2, 3] }])]);
  assert.equal(ends(unlimited, 3)[0], 0);
  const cut = spec([line([{ y: 50, n: 3, low: 20, high: 52 }, 51])], { from_zero: false });
  assert.ok(ends(cut, 52)[0] <= 20);
});

test("a log axis reaches over its positive values alone, spreads included", () => {
  const [low, high] = ends(log(line([0, -3, null, NaN, 0.01, { y: 0.1, n: 2, low: 0, high: 1 }], "A", [{ key: "", label: "", low: [0, null, -1, 0.001, 0, 0], high: [1, 2, 1, 1, 1, 1] }])));
  assert.ok(low > 0 && low <= 0.001 && high >= 2);
  for (const values of [[0], [0, 0], [-1, -2], [null], [NaN], [0.5]] as (number | null)[][]) {
    const range = ends(log(line(values)));
    assert.ok(range[0] > 0 && range[1] > range[0] && range.every(Number.isFinite), `${values} → ${range}`);
  }
});

test("what a log axis has no place for is a gap and no point at its end", () => {
  assert.deepEqual(drawn(log(line([0, 2, -1, null, 3]))), [null, 2, null, null, 3]);
  assert.deepEqual(drawn(spec([line([0, 2, -1])])), [0, 2, -1]);
  const repeated = datasets(log(line([{ y: 1, repetitions: [0, 1, -2, 3] }])), new Set(), COLORS)[1];
  assert.deepEqual(repeated?.data.map(({ y }) => y), [1, 3]);
});

test("it is told how many values of which line are left out, of the lines that are shown", () => {
  const chart = log(line([0, 2, -1, null, NaN], "A"), line([1, 2], "B"), line([0, 1], "C"));
  assert.deepEqual(leftOut(chart), [{ label: "A", of: 3, values: 2, spreads: 0, ofSpreads: 0 }, { label: "C", of: 2, values: 1, spreads: 0, ofSpreads: 0 }]);
  assert.equal(leftOutWords(chart, new Set(["A"])), "Not shown, because a log axis can't show zero or negative values: 1 of 2 values of C.");
  assert.equal(leftOutWords(chart, new Set(["A", "C"])), "");
  assert.equal(leftOutWords(spec([line([0, -1])])), "");
  assert.equal(leftOutWords({ ...chart, y: { ...chart.y, scale: "symlog" } }), "");
});

test("spreads that a log axis cuts are told too", () => {
  const chart = log(line([{ y: 1, n: 3, low: 0, high: 2 }, { y: 1, n: 3, low: 0.5, high: 2 }], "A"), line([1, 2], "B", [{ key: "", label: "", low: [-1, 0], high: [2, 2] }]));
  assert.equal(leftOutWords(chart), "Clipped at the bottom of the axis because they reach zero or below: 1 of 2 spreads of A; 2 of 2 spreads of B.");
});

test("sizes of zero are left out of a log axis of sizes, and don't bend its range", () => {
  const sized = spec([line([{ x: 0, y: 1 }, { x: 64, y: 2 }, { x: 128, y: 3 }])], {}, { scale: "log2" });
  assert.deepEqual(drawn(sized), [null, 2, 3]);
  assert.equal(fullRange(sized).low, 64 / 1.25);
  assert.deepEqual(leftOut(sized), [{ label: "A", of: 3, values: 1, spreads: 0, ofSpreads: 0 }]);
});

test("the border of a band has its place on every axis, and none where there is no figure", () => {
  const scale = { type: "logarithmic", bottom: 200, getPixelForValue: (value: number) => 100 - Math.log10(value) };
  assert.equal(borderPixel(scale, 0), 200);
  assert.equal(borderPixel(scale, -5), 200);
  assert.equal(borderPixel(scale, 10), 99);
  assert.equal(borderPixel({ ...scale, type: "linear", getPixelForValue: (value) => 100 - value }, -5), 105);
  assert.deepEqual(stretches([1, null, 1, NaN, 2], [2, 2, 2, 2, Infinity]), [[0, 0], [2, 2]]);
});

test("symlog is offered for differences, and where a log axis would leave out zeros", () => {
  assert.equal(offersSymlog(spec([line([-1, 2])])), true);
  assert.equal(offersSymlog(spec([line([0, 2])], { unit: "s" })), true);
  assert.equal(offersSymlog(spec([line([0, 2])], { unit: "ratio" })), false);
  assert.equal(offersSymlog(spec([line([1, null, NaN])], { unit: "s" })), false);
  globalThis.location = { href: "http://localhost/?scale.c=symlog" } as Location;
  assert.equal(axisChoice(spec([line([-1, 2])])).y, "symlog");
  globalThis.location = { href: "http://localhost/?scale.c=nonsense" } as Location;
  assert.equal(axisChoice(log(line([1]))).y, "log");
});

test("a symlog axis keeps zero, the sign and the order, and has ticks on both sides", () => {
  const chart = spec([line([-300, -0.2, 0, 4, 2000])], { scale: "symlog" });
  assert.equal(linearUpTo(chart), 0.1);
  assert.equal(linearUpTo(spec([line([0, null, NaN])])), 1);
  for (const value of [-300, -0.2, 0, 4, 2000]) assert.ok(Math.abs(inverse(symlog(value, 0.1), 0.1) - value) < 1e-9 * 2000);
  const ticks = symlogTicks(-330, 2200, 0.1, 220);
  assert.ok(ticks.includes(0) && ticks.includes(1000) && ticks.includes(-100));
  assert.deepEqual(ticks, [...ticks].sort((a, b) => a - b));
  const [low, high] = ends(chart);
  assert.ok(low <= -300 && high >= 2000);
  for (const values of [[0], [null], [NaN], [5], [-5]] as (number | null)[][]) {
    const range = ends(spec([line(values)], { scale: "symlog" }));
    assert.ok(range[0] <= 0 && range[1] >= 0 && range[1] > range[0], `${values} → ${range}`);
  }
});
