// Small manners by attribute: open a dialog, close it, copy a text, print.

/** Listen once on the document, so that partials swapped in later work too. */
export function startActions(): void {
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const opener = target.closest<HTMLElement>("[data-opens]");
    if (opener) document.querySelector<HTMLDialogElement>(`#${opener.dataset["opens"] ?? ""}`)?.showModal();
    if (target.closest("[data-closes]")) target.closest("dialog")?.close();
    const copier = target.closest<HTMLElement>("[data-copies]");
    if (copier) void copy(copier);
    closeMenus(target);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeMenus(document.body);
  });
}

async function copy(button: HTMLElement): Promise<void> {
  const label = button.textContent;
  await navigator.clipboard.writeText(button.dataset["copies"] ?? "");
  button.textContent = "Copied";
  window.setTimeout(() => (button.textContent = label), 1500);
}

function closeMenus(target: Element): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
}
