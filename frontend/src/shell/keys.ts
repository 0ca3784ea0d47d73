// Keys: `/` to the search, `t` to a quick test, `v` to the saved views, `g` and a letter to a page, `?` for the list; and those of lists and alerts.
import { pressedInRows } from "../tables/rows";
import { pressed } from "./triage";

const SEQUENCE_MILLISECONDS = 1500;
// In a tick box no letter is typed.
const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

/** Listen for keys; the pages to go to are the links that carry `data-key`. */
export function startKeys(): void {
  let waitingSince = 0;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const afterG = Date.now() - waitingSince < SEQUENCE_MILLISECONDS;
    waitingSince = event.key === "g" ? Date.now() : 0;
    if (afterG && goTo(event.key)) event.preventDefault();
    else if (event.key === "/") focusSearch(event);
    else if (event.key === "?") showKeys();
    else if (event.key === "v") openViews(event);
    else if (event.key === "t") document.querySelector<HTMLAnchorElement>("a[data-quick-test]")?.click();
    else if (pressedInRows(event.key) || pressed(event.key)) event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(FIELDS) !== null;
}

function goTo(letter: string): boolean {
  const link = document.querySelector<HTMLAnchorElement>(`a[data-key="${CSS.escape(letter)}"]`);
  link?.click();
  return link !== null;
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLElement>("#search, input[type=search]");
  if (!search) return;
  event.preventDefault();
  search.focus();
}

function openViews(event: KeyboardEvent): void {
  const menu = document.querySelector<HTMLDetailsElement>("details[data-views]");
  if (!menu) return;
  event.preventDefault();
  menu.open = true;
  menu.querySelector("summary")?.focus();
}

function showKeys(): void {
  document.querySelector<HTMLDialogElement>("#keys")?.showModal();
}
