// A run on another page than its own: the trial under way, and the first chart of its results as they come in.
import { type Card, card } from "./card";
import { type IntervalMessage, runningTrial } from "./running";
import { largest, received } from "./spec";

type Metrics = Parameters<typeof runningTrial>[1];

let place: HTMLElement | null = null;
let result: Card | null = null;

/** Draw the run that `data-watched` names, if there is one; asked again it goes on with the one it has. */
export function watchRun(metrics: Metrics): void {
  const found = document.querySelector<HTMLElement>("[data-watched]");
  if (!found || found === place) return;
  result?.destroy();
  [place, result] = [found, null];
  void draw(found);
  const trial = found.querySelector<HTMLElement>("[data-watched-trial]");
  if (!trial) return;
  const add = runningTrial(trial, metrics);
  document.body.addEventListener("benchweb:interval", (event) => add((event as CustomEvent<IntervalMessage>).detail));
  document.body.addEventListener("benchweb:refresh", () => void draw(found));
}

/** Draw it again, for the colours have changed. */
export function redrawWatched(): void {
  result?.redraw();
}

async function draw(root: HTMLElement): Promise<void> {
  const answer = await fetch(root.dataset["watched"] ?? "", { headers: { Accept: "application/json" } });
  // A failed refresh leaves the last figures standing; the next message tries again.
  if (!answer.ok || !root.isConnected) return;
  const [spec] = received(((await answer.json()) as { charts: unknown }).charts);
  if (!spec) return;
  if (result) result.update(spec, largest(spec));
  else {
    result = card(spec, largest(spec));
    root.querySelector("[data-watched-result]")?.append(result.element);
  }
}
