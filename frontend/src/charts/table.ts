// What a chart shows, as a table and as CSV: for screen readers, for copying, for a spreadsheet.
import { columnUnit } from "../text/format";
import { el } from "./dom";
import { levelAt, ringAt } from "./drawing/levels";
import type { Series, Spec, SpecPoint } from "./spec";
import { say } from "../text/words";

type Columns = Spec["table"]["columns"];
type Row = Record<string, unknown>;

/** The table behind a chart. */
export function table(spec: Spec): HTMLTableElement {
  const { columns } = spec.table;
  const all = rows(spec);
  const writers = columns.map(({ key, unit }) => (unit === "" ? null : columnUnit(numbersOf(all, key), unit)));
  const head = el("tr", {}, ...columns.map((column, place) => headCell(column.label, writers[place]?.unit ?? "", isNumeric(all, column.key))));
  const body = all.map((row) => el("tr", {}, ...columns.map(({ key, unit }, place) => cell(row[key], unit, writers[place]?.number))));
  return el(
    "table", { class: "table" },
    el("caption", { class: "visually-hidden" }, spec.title),
    el("thead", {}, head),
    el("tbody", {}, ...body),
  );
}

/** The table's rows: its own, or one for each point of each series, as its columns are named in benchweb/charts/table.py. */
export function rows(spec: Spec): Row[] {
  if (spec.table.rows) return spec.table.rows;
  return spec.series.flatMap((line) => {
    const strip = stripOf(spec, line);
    return line.points.map((point, place) => ({ ...pointRow(line.label, point), ...bandsRow(line, place), ...strip(point), ...changeRow(spec, line, point), ...line.ids }));
  });
}

function pointRow(series: string, point: SpecPoint): Row {
  const { x, n, y, low, high, reason } = point;
  return { series, x, n, median: y, low, high, spread: farthestRatio(point), reason };
}

/** The level that a point is of, and what it is told apart for. */
function changeRow(spec: Spec, { id }: Series, { x }: SpecPoint): Row {
  return { ...(spec.levels?.length ? { level: levelAt(spec, id, x)?.y ?? null } : {}), ...(spec.rings?.length ? { mark: ringAt(spec, x)?.label ?? "" } : {}) };
}

/** A single band is the lowest and highest that the point tells already. */
function bandsRow({ bands }: Series, place: number): Row {
  const nested = bands && bands.length > 1 ? bands : [];
  return Object.fromEntries(nested.flatMap(({ key, low, high }) => [[`${key} low`, low[place]], [`${key} high`, high[place]]]));
}

/** What the strip below says of a line at a point's time. */
function stripOf({ strip }: Spec, line: Series): (point: SpecPoint) => Row {
  if (!strip) return () => ({});
  const own = strip.series.find(({ of }) => of === line.id);
  const values = new Map(own?.points.map(({ x, y }) => [x, y]));
  return ({ x }) => ({ strip: values.get(x) ?? null });
}

/** The ± of a point, how far the repetition farthest from the median lies: from the extremes, for a long history's points have no more. */
function farthestRatio({ n, y, low, high }: SpecPoint): number | null {
  return n < 2 || !y || low === null || high === null ? null : Math.max(high - y, y - low) / Math.abs(y);
}

/** What a CSV has beside what the table shows: the ids of each line's pair, for names change and ids don't. */
export function idColumns(spec: Spec): Columns {
  const keys = new Set(spec.table.rows ? [] : spec.series.flatMap(({ ids }) => Object.keys(ids ?? {})));
  return [...keys].map((key) => ({ key, label: key, unit: "" }));
}

/** The same as CSV, in full precision; a missing value is an empty cell. Its columns are named alike in every language. */
export function csv(columns: Columns, all: Row[]): string {
  const header = columns.map(({ key, unit }) => escaped(unit ? `${key} [${unit}]` : key));
  const lines = all.map((row) => columns.map(({ key }) => escaped(row[key] ?? "")).join(","));
  return [header.join(","), ...lines].join("\r\n") + "\r\n";
}

// What a spreadsheet takes for the start of a formula; a host may be called so. benchweb/charts/export.py has the same.
const FORMULA = /^[=+\-@\t\r\n|%＝＋－＠]/;

function escaped(value: unknown): string {
  const plain = Array.isArray(value) ? value.join(" ") : String(value);
  const text = typeof value !== "number" && FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A column's name with the one unit of its numbers. */
function headCell(label: string, unit: string, numeric: boolean): HTMLTableCellElement {
  const parts = unit && numeric ? [label, el("span", { class: "unit" }, ` (${unit})`)] : [label];
  return el("th", { scope: "col", class: numeric ? "num" : "" }, ...parts);
}

function cell(value: unknown, unit: string, written?: (value: number) => string): HTMLTableCellElement {
  if (value === null || value === undefined) {
    return el("td", { class: "num" }, el("span", { class: "missing", title: say("missing") }, "—"));
  }
  if (typeof value !== "number") return el("td", {}, Array.isArray(value) ? value.join(", ") : String(value));
  // A count, such as n, is exact.
  if (!written) return el("td", { class: "num", "data-value": String(value) }, value.toLocaleString("en"));
  return el("td", { class: "num", title: `${value} ${unit}`, "data-value": String(value), "data-unit": unit }, written(value));
}

function numbersOf(all: Row[], key: string): number[] {
  return all.map((row) => row[key]).filter((value) => typeof value === "number");
}

function isNumeric(all: Row[], key: string): boolean {
  return all.some((row) => typeof row[key] === "number");
}
