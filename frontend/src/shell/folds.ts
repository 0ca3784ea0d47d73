// Folds and sheets with an id that the reader opened stay open when the part of the page that they stand in is fetched
// again, menus stay in the window, and all folds are open on paper.

/** Note what is open in what is about to be replaced, and open it in what came instead. */
export function keepFolds(): void {
  const opened = new Set<string>();
  let focused = "";
  const note = (target: EventTarget | null): void => {
    if (!(target instanceof Element) || target === document.body) return;
    for (const each of target.querySelectorAll("details[id][open], [popover][id]")) {
      if (each instanceof HTMLDetailsElement || isShown(each)) opened.add(each.id);
    }
  };
  // At once, not when htmx has settled: what stands below must not jump.
  const open = (): void => {
    for (const id of opened) {
      const each = document.getElementById(id);
      if (each instanceof HTMLDetailsElement) each.open = true;
      else if (each && !isShown(each)) each.showPopover();
    }
    // What was hidden a moment ago could not take the focus back.
    if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus();
  };
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    opened.clear();
    focused = document.activeElement?.id ?? "";
    note(target);
  });
  // What comes with the part, beside it.
  document.addEventListener("htmx:oobBeforeSwap", ({ target }) => { note(target); });
  document.addEventListener("htmx:oobAfterSwap", open);
  document.addEventListener("htmx:afterSwap", open);
}

/** Let what a menu opens hang to the left of its end where it would leave the window. */
export function keepMenusInWindow(): void {
  document.addEventListener("toggle", ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.matches(".menu[open]")) return;
    target.classList.remove("is-at-end");
    const items = target.querySelector(".menu-items");
    target.classList.toggle("is-at-end", (items?.getBoundingClientRect().right ?? 0) > document.documentElement.clientWidth);
  }, true);
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

function isShown(sheet: Element): boolean {
  return sheet instanceof HTMLElement && typeof sheet.showPopover === "function" && sheet.matches(":popover-open");
}
