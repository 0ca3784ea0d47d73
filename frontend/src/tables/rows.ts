// Lists by keyboard: j and k move along the main links of the rows, x selects a row, o opens it.
import { say } from "../text/words";

const MAIN_LINK = ".card-title a[href]";
// The row of the reader, by the address of its link: a list that is fetched again begins there, whatever has left it.
let current = "";
let at = 0;

/** Keep the row that has the focus, and tell how many are selected. */
export function startRows(): void {
  document.addEventListener("focusin", ({ target }) => {
    const row = target instanceof Element ? target.closest<HTMLElement>("tr") : null;
    const place = row ? rows().indexOf(row) : -1;
    if (!row || place < 0) return;
    current = addressOf(row);
    at = place;
  });
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== "checkbox" || !target.closest("table")?.querySelector(MAIN_LINK)) return;
    // Whoever ticks all of them hears of it once they are ticked.
    window.setTimeout(() => {
      tell(say("{number} selected", { number: selected().length }));
    });
  });
}

/** Do what a key means in a list; false when it means nothing on this page. */
export function pressedInRows(key: string): boolean {
  const found = rows();
  const row = currentRow();
  if (found.length && (key === "j" || key === "k")) move(found, key === "j" ? 1 : -1);
  else if (row && key === "x") tickOf(row)?.click();
  else if (row && key === "o") mainLink(row)?.click();
  else return false;
  return true;
}

/** Focus the reader's row, or the one that took its place; false when no row is left or none was entered. */
export function focusNear(): boolean {
  const found = rows();
  const row = currentRow() ?? (current ? found[Math.min(at, found.length - 1)] : undefined);
  if (row) mainLink(row)?.focus();
  return row !== undefined;
}

export function currentRow(): HTMLElement | undefined {
  return rows().find((row) => addressOf(row) === current);
}

export function selected(): HTMLInputElement[] {
  return rows().map(tickOf).filter((tick) => tick !== null && tick.checked) as HTMLInputElement[];
}

export function tickOf(row: HTMLElement | undefined): HTMLInputElement | null {
  return row?.querySelector<HTMLInputElement>("input[type=checkbox]") ?? null;
}

/** Tell it to those who can't see it; the list of alerts has a line of its own, for everybody. */
export function tell(text: string): void {
  const status = document.querySelector("#triage-status, #told");
  if (status) status.textContent = text;
}

function move(found: HTMLElement[], by: number): void {
  const place = found.findIndex((row) => addressOf(row) === current);
  // After one that has left the list the next one is where it was.
  const next = place < 0 ? (current ? at + Math.min(by, 0) : 0) : place + by;
  const row = found[Math.max(0, Math.min(found.length - 1, next))];
  if (row) mainLink(row)?.focus();
}

/** The rows in sight: those of a closed fold are no stops. */
function rows(): HTMLElement[] {
  const found = [...document.querySelectorAll<HTMLElement>("main tbody tr")];
  return found.filter((row) => mainLink(row)?.checkVisibility());
}

function mainLink(row: HTMLElement): HTMLAnchorElement | null {
  return row.querySelector<HTMLAnchorElement>(MAIN_LINK);
}

function addressOf(row: HTMLElement): string {
  return mainLink(row)?.getAttribute("href") ?? "";
}
