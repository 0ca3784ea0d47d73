// The navigation: wide or narrow by the switch in the top bar; narrow, each group opens by its button.

const KEY = "benchweb-rail";

/** Put the stored width on the page's root. */
export function applyRail(): void {
  if (storedWidth() === "narrow") document.documentElement.dataset["rail"] = "narrow";
}

/** Listen to the switch and to the buttons of the groups. */
export function startRail(): void {
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    if (target.closest("[data-rail-toggle]")) toggleWidth();
    const button = target.closest<HTMLButtonElement>(".rail-button");
    const isOpening = button?.getAttribute("aria-expanded") === "false";
    if (button || !target.closest(".rail-sections")) closeAll();
    if (isOpening) button.setAttribute("aria-expanded", "true");
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const [opened] = closeAll();
    opened?.focus();
  });
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && !target.closest(".rail")) closeAll();
  });
}

function closeAll(): HTMLElement[] {
  const opened = [...document.querySelectorAll<HTMLElement>(".rail-button[aria-expanded=true]")];
  for (const button of opened) button.setAttribute("aria-expanded", "false");
  return opened;
}

function toggleWidth(): void {
  const root = document.documentElement;
  if (root.dataset["rail"] === "narrow") {
    delete root.dataset["rail"];
    localStorage.removeItem(KEY);
  } else {
    root.dataset["rail"] = "narrow";
    localStorage.setItem(KEY, "narrow");
  }
}

/** In a frame on another site the browser may forbid all storage. */
function storedWidth(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
