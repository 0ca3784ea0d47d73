// Small manners by attribute: open a dialog, close it, copy a text, print.
import { copyText } from "../text/clipboard";

/** Listen once on the document, so that partials swapped in later work too. */
export function startActions(): void {
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const opener = target.closest<HTMLElement>("[data-opens]");
    if (opener) document.querySelector<HTMLDialogElement>(`#${opener.dataset["opens"] ?? ""}`)?.showModal();
    if (target.closest("[data-closes]")) target.closest("dialog")?.close();
    const copier = target.closest<HTMLElement>("[data-copies]");
    if (copier) void copyText(copier, copier.dataset["copies"] ?? "");
    // The address with its view: what is zoomed into is seen by whoever opens the link.
    const linker = target.closest<HTMLElement>("[data-copies-page]");
    if (linker) void copyText(linker, location.href);
    target.closest("[data-ends-toast]")?.closest(".toast")?.remove();
    if (target.closest("[data-prints]")) window.print();
    closeMenus(target);
  });
  // The form hears of it by the tick's own event, and looks at all of them a moment later.
  document.addEventListener("change", (event) => {
    const all = event.target as HTMLInputElement;
    const name = all.dataset["ticks"];
    if (!name) return;
    for (const tick of all.closest("table, [data-tick-group]")?.querySelectorAll<HTMLInputElement>(`input[name="${name}"]`) ?? []) {
      // What a filter hides, or can't be chosen, is not chosen by the way.
      if (!tick.closest("[hidden]") && !tick.disabled) tick.checked = all.checked;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeMenus(document.body);
  });
}

function closeMenus(target: Element): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
}
