// Alerts by keyboard: j and k move along the list, x selects, o opens, and buttons with `data-press` have a letter.
import { say } from "../text/words";

const FAILURES = ["htmx:responseError", "htmx:sendError", "htmx:timeout"];
// Where the reader is: a list that is fetched again begins there, whatever has left it.
let current = "";
let at = 0;

/** Keep the reader's row when the list is fetched again, and tell what was done. */
export function startTriage(): void {
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element) remember(target.closest<HTMLElement>("[data-row]"));
  });
  document.addEventListener("change", ({ target }) => {
    if (target instanceof Element && target.closest(".triage") && target.matches("[type=checkbox]")) tellSelected();
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (!(target instanceof HTMLElement) || target.id !== "alerts") return;
    tell(target.dataset["outcome"] ?? "");
    // What had the focus is gone; a filter that has it keeps it.
    if (document.activeElement === document.body) focusNear();
  });
  for (const name of FAILURES) {
    document.addEventListener(name, ({ target }) => {
      if (target instanceof Element && target.matches(".triage")) tell(say("The server did not answer: load the page again to see what was done."));
    });
  }
}

/** Do what a key means on this page; false when it means nothing. */
export function pressed(key: string): boolean {
  const found = rows();
  if (found.length && (key === "j" || key === "k")) move(found, key === "j" ? 1 : -1);
  else if (found.length && key === "x") toggle();
  else if (found.length && key === "o") link(currentRow())?.click();
  else return press(key, found.length > 0);
  return true;
}

function press(key: string, isList: boolean): boolean {
  const button = /^[a-z]$/.test(key) ? document.querySelector<HTMLButtonElement>(`button[data-press="${key}"]`) : null;
  if (!button) return false;
  if (isList && !selected().length) {
    const tick = tickOf(currentRow());
    if (!tick) tell(say("No alert is selected: j and k move, x selects."));
    if (!tick) return true;
    tick.checked = true;
  }
  button.click();
  return true;
}

function move(found: HTMLElement[], by: number): void {
  const place = found.findIndex((row) => row.dataset["row"] === current);
  // After one that has left the list the next one is where it was.
  const next = place < 0 ? (current ? at + Math.min(by, 0) : 0) : place + by;
  link(found[Math.max(0, Math.min(found.length - 1, next))])?.focus();
}

function focusNear(): void {
  const found = rows();
  const row = currentRow() ?? (current ? found[Math.min(at, found.length - 1)] : undefined);
  if (row) link(row)?.focus();
  else document.querySelector<HTMLElement>("main")?.focus();
}

function toggle(): void {
  const tick = tickOf(currentRow());
  if (!tick) return;
  tick.checked = !tick.checked;
  tellSelected();
}

function remember(row: HTMLElement | null): void {
  if (!row) return;
  current = row.dataset["row"] ?? "";
  at = Math.max(0, rows().indexOf(row));
}

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(".triage [data-row]")];
}

function currentRow(): HTMLElement | undefined {
  return rows().find((row) => row.dataset["row"] === current);
}

function selected(): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>(".triage [data-row] input[type=checkbox]:checked")];
}

function tickOf(row: HTMLElement | undefined): HTMLInputElement | null {
  return row?.querySelector<HTMLInputElement>("input[type=checkbox]") ?? null;
}

function link(row: HTMLElement | undefined): HTMLAnchorElement | null {
  return row?.querySelector<HTMLAnchorElement>(".card-title a") ?? null;
}

function tellSelected(): void {
  // Whoever ticks all of them hears of it once they are ticked.
  window.setTimeout(() => {
    tell(say("{number} selected", { number: selected().length }));
  });
}

function tell(text: string): void {
  const status = document.querySelector("#triage-status");
  if (status) status.textContent = text;
}
