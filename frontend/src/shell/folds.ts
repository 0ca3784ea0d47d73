// Folds with an id that the reader opened stay open when the part of the page that they stand in is fetched again, and
// all are open on paper.

/** Note which folds are open in what is about to be replaced, and open them in what came instead. */
export function keepFolds(): void {
  const opened = new Set<string>();
  const note = (target: EventTarget | null): void => {
    if (!(target instanceof Element) || target === document.body) return;
    for (const fold of target.querySelectorAll("details[id][open]")) opened.add(fold.id);
  };
  // At once, not when htmx has settled: what stands below must not jump.
  const open = (): void => {
    for (const id of opened) document.querySelector(`details#${id}`)?.setAttribute("open", "");
  };
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    opened.clear();
    note(target);
  });
  // What comes with the part, beside it.
  document.addEventListener("htmx:oobBeforeSwap", ({ target }) => { note(target); });
  document.addEventListener("htmx:oobAfterSwap", open);
  document.addEventListener("htmx:afterSwap", open);
}

/** Open every fold while the page is printed. */
export function unfoldOnPaper(): void {
  let unfolded: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll<HTMLDetailsElement>("details.fold:not([open])")];
    for (const fold of unfolded) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of unfolded) fold.open = false;
  });
}
