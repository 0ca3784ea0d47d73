// The charts of a dashboard's tiles, each tile loaded by itself, and again every some minutes.
import { type Card, card } from "./card";
import { largest, received } from "./spec";

const drawn = new Map<HTMLElement, Card[]>();

/** Draw the tiles that have come and forget those that have gone. */
export function drawTiles(): void {
  for (const [place, cards] of drawn) {
    if (place.isConnected) continue;
    for (const each of cards) each.destroy();
    drawn.delete(place);
  }
  for (const place of document.querySelectorAll<HTMLElement>("[data-tile-charts]")) {
    const sent = place.parentElement?.querySelector("[data-tile-specs]")?.textContent;
    if (!sent || drawn.has(place)) continue;
    const cards = received(JSON.parse(sent)).map((spec) => card(spec, largest(spec)));
    place.dataset["started"] = "yes";
    drawn.set(place, cards);
    place.append(...cards.map(({ element }) => element));
  }
}

/** Draw them again, for the colours have changed. */
export function redrawTiles(): void {
  for (const cards of drawn.values()) for (const each of cards) each.redraw();
}
