// Keys: `/` to the search, `v` to the saved views, `g` and a letter to a page, `?` for the list.

const SEQUENCE_MILLISECONDS = 1500;

/** Listen for keys; the pages to go to are the links that carry `data-key`. */
export function startKeys(): void {
  let waitingSince = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const afterG = Date.now() - waitingSince < SEQUENCE_MILLISECONDS;
    waitingSince = event.key === "g" ? Date.now() : 0;
    if (afterG && goTo(event.key)) event.preventDefault();
    else if (event.key === "/") focusSearch(event);
    else if (event.key === "?") showKeys();
    else if (event.key === "v") openViews(event);
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
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
