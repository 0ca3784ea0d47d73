// The legend: real buttons that toggle a series, or show it alone (double click, or the key i).
import { el, svg } from "./dom";
import { heatStops } from "./heat/heat_scale";
import { CROSS, DASHES, LEGEND_OFFSETS, MARKER_BOX, PENDING, SWATCH, shape } from "./drawing/marks";
import { type Series, type Spec, hasGaps, hasPending } from "./spec";
import { type Palette, faint } from "./theme";
import { say } from "../text/words";
import { RING_DASH } from "./drawing/levels";

// So many don't fit on a phone: the legend says how many there are.
const MANY = 6;

/**
 * Buttons for the series, and what crosses and a heat map's colours mean; `change` is called when others are hidden,
 * `look` with the id of the one under the pointer or the focus, and with none.
 */
export function legend(spec: Spec, hidden: Set<string>, colors: Palette, change: () => void, look: (id: string) => void): HTMLElement {
  const { series, heat } = spec;
  const group = el("div", { class: "legend", role: "group", "aria-label": say("Series: press to show or hide, i to show alone") });
  const buttons = series.map((each) => {
    const button = el("button", { type: "button" }, swatch(each, colors), el("span", {}, each.label));
    button.addEventListener("click", () => toggle(each.id));
    for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => look(each.id));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => look(""));
    button.addEventListener("dblclick", () => isolate(each.id));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "i") return;
      // On the page of an alert the same key is a button's.
      event.preventDefault();
      isolate(each.id);
    });
    return button;
  });
  const gaps = boxKey(CROSS, gapWords(), colors);
  const pending = boxKey(PENDING, pendingWords(), colors);
  // First: of many lines the last are scrolled to.
  const count = el("span", { class: "legend-key legend-count" }, say("{number} lines:", { number: series.length }));
  group.append(...(series.length >= MANY ? [count] : []), gaps, pending, ...buttons, ...changeKeys(spec, colors), ...(heat ? [heatKey(heatStops(heat, colors))] : []));
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
    gaps.hidden = !hasShownGaps(series, hidden);
    pending.hidden = !hasShownPending(series, hidden);
    change();
  }
}

/** Whether a line that is shown has a cross. */
export function hasShownGaps(series: Series[], hidden: ReadonlySet<string>): boolean {
  return series.some((each) => !hidden.has(each.id) && hasGaps(each));
}

/** Whether a line that is shown has a ring for what is yet to be measured. */
export function hasShownPending(series: Series[], hidden: ReadonlySet<string>): boolean {
  return series.some((each) => !hidden.has(each.id) && hasPending(each));
}

/** What a ring on the axis means. */
export function pendingWords(): string {
  return say("not measured yet");
}

/** What a cross on the axis means. */
export function gapWords(): string {
  return say("no result: hover or tap for the reason");
}

/** What the colours of a heat map count. */
export function heatWords(): string {
  return say("Share of a trial's latencies in a cell:");
}

function boxKey(outline: string, words: string, colors: Palette): HTMLElement {
  const drawn = svg("path", { d: outline, fill: "none", stroke: colors.text, "stroke-width": "1.5" });
  return el("span", { class: "legend-key" }, svg("svg", { width: "24", height: "12", "aria-hidden": "true" }, drawn), words);
}

/** What thick lines and rings mean. */
function changeKeys({ levels, rings }: Spec, colors: Palette): HTMLElement[] {
  const level = svg("rect", { y: "4", width: "24", height: "5", fill: faint(colors.soft, 0.6) });
  const ring = (dash: string): SVGElement => svg("circle", { cx: "12", cy: "6", r: "5", fill: "none", stroke: colors.text, "stroke-width": "1.5", "stroke-dasharray": dash });
  const key = (swatch: SVGElement, words: string): HTMLElement => el("span", { class: "legend-key" }, svg("svg", { width: "24", height: "12", "aria-hidden": "true" }, swatch), words);
  return [
    ...(levels?.length ? [key(level, say("level"))] : []),
    ...(rings ?? []).map(({ label, kind }) => key(ring(kind === "again" ? RING_DASH.join(" ") : ""), label)),
  ];
}

function heatKey(stops: { color: string; words: string }[]): HTMLElement {
  const swatches = stops.map(({ color, words }) => {
    const square = svg("rect", { width: "14", height: "12", fill: color });
    return el("span", {}, svg("svg", { width: "14", height: "12", "aria-hidden": "true" }, square), words);
  });
  return el("span", { class: "legend-key" }, heatWords(), ...swatches);
}

/** The line and marker of a series, as the canvas draws them. */
function swatch(series: Series, colors: Palette): SVGElement {
  const color = colors.series(series.color);
  const line = svg("line", { x1: "0", y1: "6", x2: `${SWATCH}`, y2: "6", stroke: color, "stroke-width": "2", "stroke-dasharray": DASHES[series.dash].join(" "), "stroke-dashoffset": `${LEGEND_OFFSETS[series.dash] ?? 0}` });
  const fill = series.is_hollow ? { fill: colors.ground, stroke: color, "stroke-width": "1.5" } : { fill: color };
  const marker = svg("path", { d: shape(series.marker), transform: `translate(${(SWATCH - MARKER_BOX) / 2} 0)`, ...fill });
  return svg("svg", { width: `${SWATCH}`, height: "12", "aria-hidden": "true" }, line, marker);
}
