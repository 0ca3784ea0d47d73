// What a chart shows, as a table and as CSV: for screen readers, for copying, for a spreadsheet.
import { quantity } from "../format";
import { el } from "./dom";
import type { Spec } from "./spec";
import { say } from "../words";

type Columns = Spec["table"]["columns"];

/** The table behind a chart. */
export function table(spec: Spec): HTMLTableElement {
  const { columns, rows } = spec.table;
  const head = el("tr", {}, ...columns.map((column) => el("th", { scope: "col", class: isNumeric(spec, column.key) ? "num" : "" }, column.label)));
  const body = rows.map((row) => el("tr", {}, ...columns.map((column) => cell(row[column.key], column.unit))));
  return el(
    "table", { class: "table" },
    el("caption", { class: "visually-hidden" }, spec.title),
    el("thead", {}, head),
    el("tbody", {}, ...body),
  );
}

/** The same as CSV, in full precision; a missing value is an empty cell. */
export function csv(columns: Columns, rows: Record<string, unknown>[]): string {
  const header = columns.map(({ label, unit }) => escaped(unit ? `${label} [${unit}]` : label));
  const lines = rows.map((row) => columns.map(({ key }) => escaped(row[key] ?? "")).join(","));
  return [header.join(","), ...lines].join("\r\n") + "\r\n";
}

// What a spreadsheet takes for the start of a formula; a host may be called so. benchweb/charts/export.py has the same.
const FORMULA = /^[=+\-@\t\r\n|%]/;

function escaped(value: unknown): string {
  const plain = Array.isArray(value) ? value.join(" ") : String(value);
  const text = typeof value !== "number" && FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cell(value: unknown, unit: string): HTMLTableCellElement {
  if (value === null || value === undefined) {
    return el("td", { class: "num" }, el("span", { class: "missing", title: say("missing") }, "—"));
  }
  if (typeof value !== "number") return el("td", {}, Array.isArray(value) ? value.join(", ") : String(value));
  // A count, such as n, is exact.
  if (unit === "") return el("td", { class: "num" }, value.toLocaleString("en"));
  const shown = quantity(value, unit);
  const parts = shown.unit ? [shown.number, el("span", { class: "unit" }, ` ${shown.unit}`)] : [shown.number];
  return el("td", { class: "num", title: `${value} ${unit}`.trim() }, ...parts);
}

function isNumeric(spec: Spec, key: string): boolean {
  return spec.table.rows.some((row) => typeof row[key] === "number");
}
