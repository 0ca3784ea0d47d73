// Light or dark: the account's preference, else the system's, unless the menu in the top bar says otherwise.
import { cookie } from "../text/cookies";

type Theme = "light" | "dark";
const KEY = "benchweb-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

/** Follow the system and listen to the menu; `benchweb:theme` tells the charts. */
export function startTheme(): void {
  system.addEventListener("change", applyTheme);
  document.addEventListener("click", (event) => {
    const choice = (event.target as Element).closest<HTMLElement>("[data-theme-to]");
    if (choice) choose(choice.dataset["themeTo"] ?? "");
    // A shared page has no menu.
    if ((event.target as Element).closest("[data-theme-switch]")) choose(current() === "dark" ? "light" : "dark");
  });
  // What the account says holds from now on, whatever the menu said before.
  document.addEventListener("submit", (event) => {
    if ((event.target as Element).matches("[data-forgets-theme]")) localStorage.removeItem(KEY);
  });
  applyTheme();
}

/** Put the theme in use on the page's root. */
export function applyTheme(): void {
  document.documentElement.dataset["bsTheme"] = current();
  const kept = keptTheme() ?? "";
  for (const choice of document.querySelectorAll<HTMLElement>("[data-theme-to]")) {
    choice.setAttribute("aria-pressed", String(choice.dataset["themeTo"] === kept));
  }
  document.dispatchEvent(new CustomEvent("benchweb:theme"));
}

function choose(theme: string): void {
  if (theme) localStorage.setItem(KEY, theme);
  else localStorage.removeItem(KEY);
  applyTheme();
}

/** In a frame on another site the browser may forbid all storage. */
function keptTheme(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function current(): Theme {
  // A page that stands in a frame is asked to look like the site around it.
  const asked = document.documentElement.dataset["askedTheme"];
  if (asked === "light" || asked === "dark") return asked;
  const kept = keptTheme();
  if (kept === "light" || kept === "dark") return kept;
  return preferred();
}

/** The theme of the account, in a cookie, else the system's. */
function preferred(): Theme {
  const chosen = cookie("theme");
  if (chosen === "light" || chosen === "dark") return chosen;
  return system.matches ? "dark" : "light";
}
