// The search in the top bar: suggestions below it, walked by the arrow keys, as a combobox tells it.

/** Listen once on the document; htmx fetches the suggestions. */
export function startSearch(): void {
  const input = document.querySelector<HTMLInputElement>("#search");
  const list = document.querySelector<HTMLElement>("#suggestions");
  if (!input || !list) return;

  const options = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>("[role=option]")];
  const chosen = (): HTMLElement | null => list.querySelector<HTMLElement>("[aria-selected=true]");

  function show(isOpen: boolean): void {
    if (!input || !list) return;
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) choose(null);
  }

  function choose(option: HTMLElement | null): void {
    chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input?.setAttribute("aria-activedescendant", option.id);
    else input?.removeAttribute("aria-activedescendant");
  }

  function step(by: number): void {
    const all = options();
    const at = all.findIndex((option) => option === chosen());
    const next = at < 0 && by < 0 ? all.length - 1 : (at + by + all.length) % all.length;
    if (all.length) choose(all[next] ?? null);
  }

  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && chosen()) {
      event.preventDefault();
      chosen()?.click();
    } else if (event.key === "Escape") {
      show(false);
    }
  });
  list.addEventListener("htmx:afterSwap", () => show(options().length > 0 && document.activeElement === input));
  input.addEventListener("input", () => {
    if (!input.value) show(false);
  });
  input.addEventListener("focus", () => show(options().length > 0 && input.value !== ""));
  document.addEventListener("click", (event) => {
    if (!(event.target as Element).closest(".top-search")) show(false);
  });
  document.addEventListener("focusin", (event) => {
    if (!(event.target as Element).closest(".top-search")) show(false);
  });
}
