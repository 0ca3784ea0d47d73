// The time that the history page looks at: a part of it is fetched anew, in finer detail, and is in the address.
import type htmxType from "htmx.org";

import type { Range } from "../axes/axes";

const PLACE = "#history";

/** Whether this page can be asked for another time. */
export function canLook(): boolean {
  return document.querySelector(`${PLACE}[data-history]`) !== null;
}

/** Show a part of the time, or all of it; the server draws it anew and the address follows. */
export function lookAt(range: Range | null): void {
  const url = new URL(location.href);
  url.hash = "";
  for (const [name, value] of [["from", range?.low], ["to", range?.high]] as const) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, minute(value));
  }
  const { htmx } = window as unknown as { htmx?: typeof htmxType };
  const place = document.querySelector<HTMLElement>(PLACE);
  if (!htmx || !place) return void location.assign(url);
  // The page must not jump while the charts are away.
  place.style.minHeight = `${place.offsetHeight}px`;
  void htmx.ajax("get", `${url.pathname}${url.search}`, { target: PLACE, select: PLACE, swap: "outerHTML" });
}

/** Full minutes make an address that can be read. */
function minute(milliseconds: number): string {
  return `${new Date(Math.round(milliseconds / 60_000) * 60_000).toISOString().slice(0, 16)}Z`;
}
