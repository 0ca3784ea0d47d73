// The legend: real buttons that toggle a series, or show it alone (double click, or the key i).
import { el, svg } from "./dom";
import type { Marker, Series } from "./spec";
import type { Palette } from "./theme";
import { say } from "../words";

const DASHES = { solid: "", dashed: "5 3", dotted: "2 2" };

/** Buttons for the series; `change` gets the set of hidden ids. */
export function legend(series: Series[], hidden: Set<string>, colors: Palette, change: () => void): HTMLElement {
  const group = el("div", { class: "legend", role: "group", "aria-label": say("Series: press to show or hide, i to show alone") });
  const buttons = series.map((each) => {
    const button = el("button", { type: "button" }, swatch(each, colors), el("span", {}, each.label));
    button.addEventListener("click", () => toggle(each.id));
    button.addEventListener("dblclick", () => isolate(each.id));
    button.addEventListener("keydown", (event) => {
      if (event.key === "i") isolate(each.id);
    });
    return button;
  });
  group.append(...buttons);
  press();
  return group;

  function toggle(id: string): void {
    if (!hidden.delete(id)) hidden.add(id);
    press();
  }

  function isolate(id: string): void {
    const isAlone = !hidden.has(id) && hidden.size === series.length - 1;
    hidden.clear();
    if (!isAlone) for (const each of series) if (each.id !== id) hidden.add(each.id);
    press();
  }

  function press(): void {
    series.forEach((each, index) => buttons[index]?.setAttribute("aria-pressed", String(!hidden.has(each.id))));
    change();
  }
}

/** The line and marker of a series, as the canvas draws them. */
function swatch(series: Series, colors: Palette): SVGElement {
  const color = colors.series(series.color);
  const line = svg("line", { x1: "0", y1: "6", x2: "24", y2: "6", stroke: color, "stroke-width": "2", "stroke-dasharray": DASHES[series.dash] });
  return svg("svg", { width: "24", height: "12", "aria-hidden": "true" }, line, marker(series.marker, color));
}

function marker(kind: Marker, color: string): SVGElement {
  return svg("path", { d: shape(kind), fill: color });
}

/** A marker's outline in a box of 24 × 12, as a path. */
export function shape(kind: Marker): string {
  const outlines = {
    circle: "M8.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", rect: "M9 3h6v6h-6z", triangle: "M12 2L16 9.5H8z", rectRot: "M12 1.5L16.5 6L12 10.5L7.5 6z",
  };
  return outlines[kind];
}
