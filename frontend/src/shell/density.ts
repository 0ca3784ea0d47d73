// How close together rows are: kept by the browser, for it goes by the screen.
const KEY = "benchweb-density";
const COMPACT = "compact";

/** Listen to the choices of the menu. */
export function startDensity(): void {
  document.addEventListener("click", (event) => {
    const choice = (event.target as Element).closest<HTMLElement>("[data-density-to]");
    if (!choice) return;
    if (choice.dataset["densityTo"] === COMPACT) localStorage.setItem(KEY, COMPACT);
    else localStorage.removeItem(KEY);
    applyDensity();
  });
  applyDensity();
}

/** Put the density in use on the page's root, and mark its choice. */
export function applyDensity(): void {
  const chosen = kept();
  document.documentElement.dataset["density"] = chosen;
  for (const choice of document.querySelectorAll<HTMLElement>("[data-density-to]")) {
    choice.setAttribute("aria-pressed", String(choice.dataset["densityTo"] === chosen));
  }
}

/** In a frame on another site the browser may forbid all storage. */
function kept(): string {
  try {
    return localStorage.getItem(KEY) === COMPACT ? COMPACT : "";
  } catch {
    return "";
  }
}
