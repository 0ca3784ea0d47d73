// Of several lines over time the one under the pointer or the focus: the others fade meanwhile.
import type { Chart } from "chart.js";

import type { Drawn } from "../config";
import { endLabels } from "../drawing/end_labels";
import type { Spec } from "../spec";

/** Keep which line is looked at, by its id; none where it is hidden or alone. `change` is called when it is another. */
export function lookedLine(chart: Chart, spec: () => Spec, hidden: ReadonlySet<string>, change: () => void): { id: () => string; look: (id: string) => void } {
  let looked = "";
  listen(chart, spec, look);
  return { id: () => looked, look };

  function look(id: string): void {
    const next = spec().form === "time" && spec().series.length > 1 && !hidden.has(id) ? id : "";
    if (next === looked) return;
    looked = next;
    change();
  }
}

// A line this near to the pointer is the one that is looked at.
const NEAR_PIXELS = 24;

/** Tell which line the pointer is at, or which line's name. */
function listen(chart: Chart, spec: () => Spec, look: (id: string) => void): void {
  const { canvas } = chart;
  const idAt = (event: MouseEvent): string => {
    const [x, y] = [event.offsetX, event.offsetY];
    if (x > chart.chartArea.right) return endLabels(chart, spec()).find((label) => Math.abs(label.y - y) < NEAR_PIXELS / 3)?.id ?? "";
    const drawn = chart.data.datasets as unknown as Drawn[];
    const [found] = chart.getElementsAtEventForMode(event, "nearest", { intersect: false, axis: "xy" }, false).filter(({ datasetIndex }) => drawn[datasetIndex]?.role === "median");
    return found && Math.hypot(found.element.x - x, found.element.y - y) <= NEAR_PIXELS ? drawn[found.datasetIndex]?.series.id ?? "" : "";
  };
  canvas.addEventListener("mousemove", (event) => look(idAt(event)));
  canvas.addEventListener("mouseleave", () => look(""));
}
