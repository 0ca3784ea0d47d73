// Folds with an id that the reader opened stay open when the part of the page that they stand in is fetched again.

/** Note which folds are open in what is about to be replaced, and open them in what came instead. */
export function keepFolds(): void {
  const opened = new Set<string>();
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    opened.clear();
    if (!(target instanceof Element) || target === document.body) return;
    for (const fold of target.querySelectorAll("details[id][open]")) opened.add(fold.id);
  });
  // At once, not when htmx has settled: what stands below must not jump.
  document.addEventListener("htmx:afterSwap", () => {
    for (const id of opened) document.querySelector(`details#${id}`)?.setAttribute("open", "");
  });
}
