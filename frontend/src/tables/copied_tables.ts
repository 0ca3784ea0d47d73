// Cells copied from a table are for a spreadsheet: numbers in the one unit of their column, times as ISO 8601.

/** Put the cells of a selection within one table on the clipboard as a spreadsheet takes them. */
export function startCopying(): void {
  document.addEventListener("copy", (event) => {
    const selection = document.getSelection();
    const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
    const text = range && !range.collapsed ? copiedText(range) : "";
    if (!text || !event.clipboardData) return;
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  });
}

function copiedText(range: Range): string {
  const table = tableOf(range);
  if (!table) return "";
  const units = columnUnits(table);
  const rows = [...table.rows].map((row) => [...row.cells].filter((cell) => range.intersectsNode(cell)));
  const chosen = rows.filter((cells) => cells.length > 0);
  // Part of one cell is a text as any other.
  if (chosen.flat().length < 2) return "";
  return chosen.map((cells) => cells.map((cell) => cellText(cell, units)).join("\t")).join("\n");
}

/** The table that a selection is in, or the only one of the place that it fills. */
function tableOf(range: Range): HTMLTableElement | null {
  const common = range.commonAncestorContainer;
  const element = common instanceof Element ? common : common.parentElement;
  const around = element?.closest("table");
  if (around) return around;
  return element?.matches(".table-scroll, .chart-table") ? element.querySelector("table") : null;
}

/** The unit of each column by its place: that of its first number. */
function columnUnits(table: HTMLTableElement): Map<number, string> {
  const units = new Map<number, string>();
  for (const cell of table.querySelectorAll<HTMLTableCellElement>("tbody td")) {
    const unit = numberIn(cell)?.dataset["unit"];
    if (unit && !units.has(cell.cellIndex)) units.set(cell.cellIndex, unit);
  }
  return units;
}

function cellText(cell: HTMLTableCellElement, units: Map<number, string>): string {
  const number = numberIn(cell);
  const unit = units.get(cell.cellIndex);
  if (number) return withUnit(number.dataset["value"] ?? "", number.dataset["unit"] ?? "", unit ?? "");
  if (cell.querySelector(".missing") && cell.textContent?.trim() === "—") return "";
  if (cell.tagName === "TH" && unit && cell.closest("thead")) return `${wordsOf(cell, ".unit")} [${unit}]`;
  return wordsOf(cell);
}

/** A number of another quantity than its column's, as where each row has its own, keeps its unit beside it. */
function withUnit(value: string, unit: string, common: string): string {
  return unit && unit !== common ? `${value} ${unit}` : value;
}

function numberIn(cell: HTMLTableCellElement): HTMLElement | null {
  return cell.dataset["value"] !== undefined ? cell : cell.querySelector<HTMLElement>("[data-value]");
}

/** A cell's text; the unit that a head shows is that of the numbers on the page, not of those copied. */
function wordsOf(cell: HTMLTableCellElement, without = ""): string {
  const copy = cell.cloneNode(true) as HTMLTableCellElement;
  if (without) for (const part of copy.querySelectorAll(without)) part.remove();
  for (const time of copy.querySelectorAll("time")) time.textContent = time.dateTime;
  return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
}
