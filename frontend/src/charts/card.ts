// One chart with its title, legend, canvas, actions and table; made anew when its data or the theme changes.
import { Chart } from "chart.js";

import { type Range, fullRange } from "./axes/axes";
import { axisChoice, axisSwitches, offersSymlog, withAxes } from "./axes/axis_choice";
import { type DrawnPoint, configuration, datasets, scales } from "./config";
import { csv, idColumns, rows, table } from "./table";
import { download, el } from "./dom";
import { leftOutWords } from "./left_out";
import { legend } from "./legend";
import { picture } from "./picture";
import { ownDrawing } from "./drawing/plugins";
import { canLook, lookAt } from "./view/look";
import { lookedLine } from "./view/looked_line";
import { type Spec, hasGaps, hasPending, isLook } from "./spec";
import { palette } from "./theme";
import { chosen, keep } from "./view/view_state";
import { isDrag, keepRange, listenForZoom, rangeInUrl } from "./view/zoom";
import { copyText } from "../text/clipboard";
import { say } from "../text/words";
import { flagHref } from "./drawing/time_drawing";

/** A chart on the page. */
export interface Card {
  element: HTMLElement;
  update: (spec: Spec, top: number) => void;
  redraw: () => void;
  destroy: () => void;
}

/** What a card is made of; `legend` is replaced when series or colours change. */
interface Parts {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  frame: HTMLElement;
  subtitle: HTMLElement;
  note: HTMLElement;
  legend: HTMLElement;
  table: HTMLElement;
  actions: HTMLElement;
}

const BETWEEN_IDS = "|";
// In characters: what is longer would be wider than a phone.
const LONGEST_WHOLE = 40;

/** Build a card; `top` is the common maximum of the charts of one quantity. */
export function card(first: Spec, firstTop: number): Card {
  let [spec, top, colors] = [first, firstTop, palette()];
  let axes = axisChoice(spec);
  let range: Range | null = rangeInUrl(spec.id, fullRange(withAxes(spec, axes)));
  const hidden = new Set(chosen(`hide.${spec.id}`).split(BETWEEN_IDS).filter((id) => spec.series.some((each) => each.id === id)));
  const parts = build(spec, () => withAxes(spec, axes), hidden);
  const chart = new Chart(parts.canvas, {
    ...configuration(withAxes(spec, axes), range ?? fullRange(withAxes(spec, axes)), top, hidden, colors),
    plugins: [ownDrawing(() => spec, () => colors)],
  });
  listenForZoom(chart as unknown as Chart, (wanted) => {
    if (isLook(spec) && canLook()) return lookAt(wanted);
    range = wanted;
    keepRange(spec.id, wanted);
    apply();
  });
  listenForClicks(chart as unknown as Chart, parts.frame, () => spec);
  const looked = lookedLine(chart as unknown as Chart, () => spec, hidden, () => apply());
  const offer = axisSwitches(parts.actions, (axis) => {
    if (axis === "x") keepRange(spec.id, range = null);
    apply();
  });
  offer(spec, axes);
  rebuildLegend();

  function rebuildLegend(): void {
    const built = legend(spec, hidden, colors, () => {
      keep(`hide.${spec.id}`, [...hidden].join(BETWEEN_IDS));
      apply();
    }, looked.look);
    parts.legend.replaceWith(built);
    parts.legend = built;
  }

  /** Put the state into the chart; datasets are patched in place, so that live points slide to where they belong. */
  function apply(mode: "none" | "default" = "none"): void {
    const shown = withAxes(spec, axes);
    patch(chart.data.datasets, datasets(shown, hidden, colors, looked.id()));
    describeIn(parts, shown, hidden);
    chart.options.scales = scales(shown, range ?? fullRange(shown), top, colors) as never;
    chart.options.animation = mode === "none" ? false : { duration: 300 };
    chart.update(mode);
  }

  return {
    element: parts.element,
    update(next, nextTop) {
      const [isSameShape, hasSameAxes] = [shapeOf(next) === shapeOf(spec), axesOf(next) === axesOf(spec)];
      [spec, top] = [next, nextTop];
      // A running run draws one test after the other, each with its own quantity.
      if (!hasSameAxes) offer(spec, axes = axisChoice(spec));
      if (!isSameShape) rebuildLegend();
      apply(matchMedia("(prefers-reduced-motion: reduce)").matches ? "none" : "default");
    },
    redraw() {
      colors = palette();
      chart.options.plugins = configuration(withAxes(spec, axes), fullRange(spec), top, hidden, colors).options?.plugins ?? {};
      rebuildLegend();
      // In mode "none" Chart.js keeps the options that the points share, colours and all.
      chart.update();
    },
    destroy: () => chart.destroy(),
  };
}

/** What the legend is made of. */
function shapeOf(spec: Spec): string {
  return JSON.stringify(spec.series.map((series) => [series.id, series.label, hasGaps(series), hasPending(series)]));
}

/** What the choice of axes depends on. */
function axesOf(spec: Spec): string {
  return `${spec.x.scale} ${spec.y.unit} ${spec.y.scale} ${offersSymlog(spec)}`;
}

function patch<Dataset extends object>(old: Dataset[], fresh: Dataset[]): void {
  old.length = Math.min(old.length, fresh.length);
  fresh.forEach((dataset, index) => (old[index] = Object.assign(old[index] ?? dataset, dataset)));
}

function build(spec: Spec, current: () => Spec, hidden: ReadonlySet<string>): Parts {
  const canvas = el("canvas", { role: "img", "aria-details": `table-${spec.id}` });
  const frame = el("div", { class: "chart-canvas" }, canvas);
  const subtitle = el("p", { class: "chart-subtitle" });
  const label = say("Table: {title}", { title: spec.title });
  const tablePlace = el("div", { class: "chart-table", id: `table-${spec.id}`, hidden: "", tabindex: "0", role: "region", "aria-label": label });
  const keys = el("div", {});
  const note = el("p", { class: "chart-note", hidden: "" });
  const buttons = actions(current, hidden, canvas, tablePlace);
  const element = el(
    "section", { class: "chart", id: `chart-${spec.id}`, "aria-label": named(spec) },
    el("h3", {}, spec.title), subtitle, keys, frame, note, buttons, tablePlace,
  );
  const parts = { element, canvas, frame, subtitle, note, legend: keys, table: tablePlace, actions: buttons };
  describeIn(parts, current(), hidden);
  return parts;
}

/** Name a chart by its title; one of a title that the page has already, of another test say, by what it is of as well. */
function named(spec: Spec): string {
  const isTaken = document.querySelector(`section.chart[aria-label=${JSON.stringify(spec.title)}]`) !== null;
  return isTaken && spec.subtitle ? `${spec.title}. ${spec.subtitle}` : spec.title;
}

function describeIn(parts: Parts, spec: Spec, hidden: ReadonlySet<string>): void {
  const note = leftOutWords(spec, hidden);
  parts.subtitle.textContent = keptWhole(spec.subtitle);
  parts.note.textContent = note;
  parts.note.hidden = note === "";
  parts.canvas.setAttribute("aria-label", `${describe(spec)} ${note}`.trim());
  if (!parts.table.hidden) parts.table.replaceChildren(table(spec));
}

/** Settings break between one and the next; only a long one within. */
function keptWhole(settings: string): string {
  return settings.split(" · ").map((each) => (each.length <= LONGEST_WHOLE ? each.replaceAll(" ", "\u00a0") : each)).join(" · ");
}

function describe(spec: Spec): string {
  const series = spec.series.map(({ label }) => label).join(", ");
  return `${spec.title}. ${spec.subtitle} ${say("Chart of {series}; the table below has the same data.", { series })}`;
}

function actions(spec: () => Spec, hidden: ReadonlySet<string>, canvas: HTMLCanvasElement, tablePlace: HTMLElement): HTMLElement {
  const { id } = spec();
  const toggle = el("button", { type: "button", class: "btn btn-small", "aria-expanded": "false", "aria-controls": tablePlace.id }, say("Table"));
  toggle.addEventListener("click", () => {
    tablePlace.hidden = !tablePlace.hidden;
    // Made when it is asked for: a year's rows take longer than its chart.
    if (!tablePlace.hidden) tablePlace.replaceChildren(table(spec()));
    toggle.setAttribute("aria-expanded", String(!tablePlace.hidden));
  });
  const save = (mark: string): void => {
    download(`${id}.csv`, new Blob([mark, csv([...spec().table.columns, ...idColumns(spec())], rows(spec()))], { type: "text/csv" }));
  };
  const saveCsv = action("CSV", () => save(""));
  // By the byte order mark Excel knows that a file is UTF-8.
  const saveForExcel = action(say("CSV for Excel"), () => save("\ufeff"));
  const savePng = action("PNG", () => savePicture(picture(canvas, spec(), hidden), id));
  const link = el("a", { class: "btn btn-small", href: `#chart-${id}` }, say("Link"));
  link.addEventListener("click", () => {
    const url = new URL(location.href);
    url.hash = `chart-${id}`;
    void copyText(link, url.href, say("Link copied"));
  });
  return el("div", { class: "chart-actions" }, toggle, saveCsv, saveForExcel, savePng, link);
}

function action(label: string, act: () => void): HTMLButtonElement {
  const button = el("button", { type: "button", class: "btn btn-small" }, label);
  button.addEventListener("click", act);
  return button;
}

function savePicture(drawn: HTMLCanvasElement | null, id: string): void {
  drawn?.toBlob((blob) => blob && download(`${id}.png`, blob), "image/png");
}

function listenForClicks(chart: Chart, frame: HTMLElement, spec: () => Spec): void {
  const { canvas } = chart;
  const hrefAt = (event: MouseEvent): string => {
    const flagged = flagHref(chart, spec(), { x: event.offsetX, y: event.offsetY });
    if (flagged) return flagged;
    const found = chart.getElementsAtEventForMode(event, "nearest", { intersect: true }, false)[0];
    const data = found ? (chart.data.datasets[found.datasetIndex]?.data as unknown as DrawnPoint[]) : [];
    return found ? (data[found.index]?.source.href ?? "") : "";
  };
  canvas.addEventListener("mousemove", (event) => frame.classList.toggle("on-point", hrefAt(event) !== ""));
  let pressedAt = 0;
  canvas.addEventListener("pointerdown", (event) => (pressedAt = event.offsetX));
  canvas.addEventListener("click", (event) => {
    // A drag that ends on a point has zoomed: it opens no run.
    const href = isDrag(pressedAt, event.offsetX) ? "" : hrefAt(event);
    // A link to a place on this page still works while the chart is live.
    if (href) location.assign(href);
  });
}
