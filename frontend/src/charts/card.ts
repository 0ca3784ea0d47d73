// One chart with its title, legend, canvas, actions and table; made anew when its data or the theme changes.
import { Chart } from "chart.js";

import { fullRange } from "./axes";
import { type DrawnPoint, configuration, datasets } from "./config";
import { csv, table } from "./table";
import { download, el } from "./dom";
import { legend } from "./legend";
import { ownDrawing } from "./plugins";
import type { Spec } from "./spec";
import { palette } from "./theme";
import { type Range, xScale, yScale } from "./axes";
import { listenForZoom, rangeInUrl } from "./zoom";

/** A chart on the page. */
export interface Card {
  element: HTMLElement;
  update: (spec: Spec, top: number) => void;
  redraw: () => void;
  destroy: () => void;
}

/** Build a card; `top` is the common maximum of the charts of one quantity. */
export function card(first: Spec, firstTop: number): Card {
  let [spec, top, colors] = [first, firstTop, palette()];
  let range: Range | null = rangeInUrl(spec.id);
  const hidden = new Set<string>();
  const canvas = el("canvas", { role: "img", "aria-describedby": `table-${spec.id}`, "aria-label": describe(spec) });
  const frame = el("div", { class: "chart-canvas" }, canvas);
  const subtitle = el("p", { class: "chart-subtitle" }, spec.subtitle);
  const tablePlace = el("div", { class: "chart-table", id: `table-${spec.id}`, hidden: "", tabindex: "0", role: "region", "aria-label": `Table: ${spec.title}` });
  let keys = el("div", {});
  const element = el(
    "section", { class: "chart", id: `chart-${spec.id}`, "aria-label": spec.title },
    el("h3", {}, spec.title), subtitle, keys, frame, actions(() => spec, canvas, tablePlace), tablePlace,
  );
  const chart = new Chart(canvas, {
    ...configuration(spec, range ?? fullRange(spec), top, hidden, colors),
    plugins: [ownDrawing(() => spec, () => colors)],
  });
  listenForZoom(chart as unknown as Chart, spec.id, (chosen) => {
    range = chosen;
    apply();
  });
  listenForClicks(chart as unknown as Chart, frame);
  rebuildLegend();
  tablePlace.replaceChildren(table(spec));

  function rebuildLegend(): void {
    const built = legend(spec.series, hidden, colors, () => {
      chart.data.datasets.forEach((dataset) => {
        dataset.hidden = hidden.has((dataset as unknown as { series: { id: string } }).series.id);
      });
      chart.update("none");
    });
    keys.replaceWith(built);
    keys = built as HTMLDivElement;
  }

  /** Put the state into the chart. Points patched in place slide to where they belong, unless motion is unwanted. */
  function apply(mode: "none" | "default" = "none"): void {
    const fresh = datasets(spec, hidden, colors);
    chart.data.datasets.length = Math.min(chart.data.datasets.length, fresh.length);
    fresh.forEach((dataset, index) => {
      const old = chart.data.datasets[index];
      if (old) Object.assign(old, dataset);
      else chart.data.datasets.push(dataset);
    });
    const shown = range ?? fullRange(spec);
    chart.options.scales = { x: xScale(spec, shown, colors), y: yScale(spec, top, colors) } as never;
    chart.options.animation = mode === "none" ? false : { duration: 300 };
    chart.update(mode);
  }

  return {
    element,
    update(next, nextTop) {
      const isSameShape = JSON.stringify(next.series.map(({ id }) => id)) === JSON.stringify(spec.series.map(({ id }) => id));
      [spec, top] = [next, nextTop];
      subtitle.textContent = spec.subtitle;
      canvas.setAttribute("aria-label", describe(spec));
      tablePlace.replaceChildren(table(spec));
      if (!isSameShape) rebuildLegend();
      apply(matchMedia("(prefers-reduced-motion: reduce)").matches ? "none" : "default");
    },
    redraw() {
      colors = palette();
      const fresh = configuration(spec, range ?? fullRange(spec), top, hidden, colors);
      chart.options.plugins = fresh.options?.plugins ?? {};
      rebuildLegend();
      apply();
    },
    destroy: () => chart.destroy(),
  };
}

function describe(spec: Spec): string {
  return `${spec.title}. ${spec.subtitle} Chart of ${spec.series.map(({ label }) => label).join(", ")}; the table below holds the same figures.`;
}

function actions(spec: () => Spec, canvas: HTMLCanvasElement, tablePlace: HTMLElement): HTMLElement {
  const { id } = spec();
  const toggle = el("button", { type: "button", class: "btn btn-small", "aria-expanded": "false", "aria-controls": tablePlace.id }, "Table");
  toggle.addEventListener("click", () => {
    tablePlace.hidden = !tablePlace.hidden;
    toggle.setAttribute("aria-expanded", String(!tablePlace.hidden));
  });
  const saveCsv = action("CSV", () => {
    const { columns, rows } = spec().table;
    download(`${id}.csv`, new Blob([csv(columns, rows)], { type: "text/csv" }));
  });
  const savePng = action("PNG", () => savePicture(canvas, id));
  const link = el("a", { class: "btn btn-small", href: `#chart-${id}` }, "Link");
  link.addEventListener("click", () => {
    const url = new URL(location.href);
    url.hash = `chart-${id}`;
    void navigator.clipboard?.writeText(url.href).then(() => flash(link, "Link copied"));
  });
  return el("div", { class: "chart-actions" }, toggle, saveCsv, savePng, link);
}

function action(label: string, act: () => void): HTMLButtonElement {
  const button = el("button", { type: "button", class: "btn btn-small" }, label);
  button.addEventListener("click", act);
  return button;
}

function flash(element: HTMLElement, message: string): void {
  const label = element.textContent;
  element.textContent = message;
  window.setTimeout(() => (element.textContent = label), 1500);
}

/** The picture gets the theme's ground: a transparent one can't be read in a mail of the other theme. */
function savePicture(canvas: HTMLCanvasElement, id: string): void {
  const copy = el("canvas", { width: String(canvas.width), height: String(canvas.height) });
  const context = copy.getContext("2d");
  if (!context) return;
  context.fillStyle = palette().ground;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob((blob) => blob && download(`${id}.png`, blob), "image/png");
}

function listenForClicks(chart: Chart, frame: HTMLElement): void {
  const { canvas } = chart;
  const hrefAt = (event: MouseEvent): string => {
    const found = chart.getElementsAtEventForMode(event, "nearest", { intersect: true }, false)[0];
    const data = found ? (chart.data.datasets[found.datasetIndex]?.data as unknown as DrawnPoint[]) : [];
    return found ? (data[found.index]?.source.href ?? "") : "";
  };
  canvas.addEventListener("mousemove", (event) => frame.classList.toggle("on-point", hrefAt(event) !== ""));
  canvas.addEventListener("click", (event) => {
    const href = hrefAt(event);
    // A link to a place on this page still works while the chart is live.
    if (href) location.assign(href);
  });
}
