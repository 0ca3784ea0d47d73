// Parts that are fetched once the page is shown: what is told while one comes, when it came or didn't, and its script.

const FAILURES = ["htmx:responseError", "htmx:sendError", "htmx:timeout"];

/** Tell of the fetching of each `data-part`; its texts stand in the page. */
export function startParts(): void {
  listen("htmx:beforeRequest", (part) => {
    const failure = part.querySelector<HTMLElement>("[data-failed]");
    // What is pressed to try again goes away: the focus stays with the section, by its heading.
    if (failure?.contains(document.activeElement)) part.closest("section")?.querySelector("h2")?.focus();
    if (failure) failure.hidden = true;
    part.setAttribute("aria-busy", "true");
  });
  for (const name of FAILURES) {
    listen(name, (part) => {
      part.removeAttribute("aria-busy");
      const failure = part.querySelector<HTMLElement>("[data-failed]");
      if (failure) failure.hidden = false;
    });
  }
}

/** Tell those who can't see it what a part says anew: how many rows match, what a run has come to. */
export function tellParts(): void {
  // By the id of the part: two may be on their way at once.
  const before = new Map<string, string>();
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    if (target instanceof Element) before.set(target.id, textOf(target));
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (!(target instanceof Element) || !before.has(target.id)) return;
    const told = textOf(target);
    const status = document.querySelector("#told");
    if (status && told && told !== before.get(target.id)) status.textContent = told;
  });
}

function textOf(part: Element): string {
  const teller = part.matches("[data-told]") ? part : part.querySelector("[data-told]");
  return teller?.textContent.replace(/\s+/g, " ").trim() ?? "";
}

/** Load the scripts that parts of the page need, once each. */
export function loadScripts(): void {
  for (const each of document.querySelectorAll<HTMLElement>("[data-script]")) {
    const address = each.dataset["script"] ?? "";
    if ([...document.scripts].some((known) => known.getAttribute("src") === address)) continue;
    const script = document.createElement("script");
    script.src = address;
    document.head.append(script);
  }
}

function listen(name: string, act: (part: Element) => void): void {
  document.addEventListener(name, ({ target }) => {
    if (target instanceof Element && target.matches("[data-part]")) act(target);
  });
}
