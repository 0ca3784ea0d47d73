// What has a letter, by `data-press`, is pressed by it; buttons above the list of alerts act on those selected, else on the current one.
import { say } from "../text/words";
import { currentRow, focusNear, selected, tell, tickOf } from "../tables/rows";

const FAILURES = ["htmx:responseError", "htmx:sendError", "htmx:timeout"];

/** Keep the reader's row when the list is fetched again, and tell what was done. */
export function startTriage(): void {
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (!(target instanceof HTMLElement) || target.id !== "alerts") return;
    tell(target.dataset["outcome"] ?? "");
    // What had the focus is gone; a filter that has it keeps it.
    if (document.activeElement === document.body && !focusNear()) document.querySelector<HTMLElement>("main")?.focus();
  });
  for (const name of FAILURES) {
    document.addEventListener(name, ({ target }) => {
      if (target instanceof Element && target.matches(".triage")) tell(say("The server did not answer: load the page again to see what was done."));
    });
  }
}

/** Press what has this letter; false when nothing on the page has it. */
export function pressed(key: string): boolean {
  const button = /^[a-z]$/.test(key) ? document.querySelector<HTMLElement>(`[data-press="${key}"]`) : null;
  if (!button) return false;
  if (document.querySelector(".triage tbody") && !selected().length) {
    const tick = tickOf(currentRow());
    if (!tick) tell(say("No alert is selected: j and k move, x selects."));
    if (!tick) return true;
    tick.checked = true;
  }
  button.click();
  return true;
}
