// A small chart inside a link of the page: a scale, what was measured and what changed; the link's page has the rest.
import { Chart, type ScaleOptions } from "chart.js";

import { fullRange, xScale } from "./axes/axes";
import { drawnRange } from "./axes/value_range";
import { type DrawnPoint, configuration } from "./config";
import type { Card } from "./card";
import { el } from "./dom";
import { ownDrawing } from "./drawing/plugins";
import type { Spec } from "./spec";
import { type Palette, palette } from "./theme";
import { joined, prefixFor, significant, trimmed } from "../text/format";

// One width for all, so that charts below each other have one time axis.
const SCALE_PIXELS = { small: 40, row: 39 };
const MOST_TICKS = 5;
const FONT_PIXELS = { small: 10, row: 9 };
// Two levels nearer to each other than this share of the scale have one label.
const LEAST_BETWEEN = 0.25;
// Half a label stands beyond each end of a row's scale; flags need more.
const ROW_PADDING = 6;
const FLAG_PADDING = 13;

/** Build a small chart; it is named by the link that it stands in. */
export function smallChart(first: Spec): Card {
  let spec = first;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const element = el("span", { class: `small-chart small-chart-${spec.detail}` }, canvas);
  let chart = drawn();

  function drawn(): Chart<"line", DrawnPoint[]> {
    const colors = palette();
    const shown = configuration(spec, fullRange(spec), 0, new Set(), colors);
    const marks = spec.marks?.length ? FLAG_PADDING : 0;
    const padding = spec.detail === "row" ? { top: Math.max(ROW_PADDING, marks), bottom: ROW_PADDING, right: 4 } : { top: Math.max(4, marks), right: 8 };
    return new Chart(canvas, {
      ...shown,
      options: {
        ...shown.options,
        layout: { padding },
        scales: { x: smallX(spec, colors), y: smallY(spec, colors) } as never,
        // A row is lower than a tooltip.
        ...(spec.detail === "row" ? { events: [] } : {}),
      },
      plugins: [ownDrawing(() => spec, () => colors)],
    });
  }

  function redraw(): void {
    chart.destroy();
    chart = drawn();
  }

  return {
    element,
    update(next) {
      spec = next;
      redraw();
    },
    redraw,
    destroy: () => chart.destroy(),
  };
}

function smallX(spec: Spec, colors: Palette): ScaleOptions {
  const whole = xScale(spec, fullRange(spec), colors) as unknown as { ticks: object };
  return {
    ...whole, display: spec.detail !== "row", title: { display: false }, grid: { display: false },
    ticks: { ...whole.ticks, font: { size: FONT_PIXELS.small }, padding: 2, autoSkip: true, autoSkipPadding: 8, maxRotation: 0 },
  } as unknown as ScaleOptions;
}

function smallY(spec: Spec, colors: Palette): ScaleOptions {
  const range = drawnRange(spec);
  const detail = spec.detail === "row" ? "row" : "small";
  const isRow = detail === "row";
  const levels = told(spec, range);
  return {
    type: "linear", ...range, title: { display: false },
    grid: { color: colors.rule, drawTicks: false }, border: { display: false },
    ticks: {
      color: colors.soft, padding: 4, font: { size: FONT_PIXELS[detail] }, maxTicksLimit: MOST_TICKS, includeBounds: isRow, autoSkip: false, crossAlign: "near",
      callback: (value: string | number) => tick(Number(value), range.max, spec.y.unit, isRow || levels.length > 0),
    },
    afterBuildTicks: (axis: { ticks: { value: number }[] }) => {
      if (isRow) axis.ticks = [{ value: range.min }, { value: range.max }];
      else if (levels.length) axis.ticks = levels.map((value) => ({ value }));
    },
    afterFit: (axis: { width: number }) => (axis.width = SCALE_PIXELS[detail]),
  } as unknown as ScaleOptions;
}

/** What the scale of a change tells: the level since and that before, or the limit. */
function told(spec: Spec, { min, max }: { min: number; max: number }): number[] {
  const [since, ...others] = [...(spec.levels ?? []), ...spec.lines].map(({ y }) => y).reverse();
  if (since === undefined) return [];
  return [since, ...others.filter((each) => Math.abs(each - since) >= (max - min) * LEAST_BETWEEN)];
}

/**
 * A value on a small scale, with the prefix of the largest: 9.41 G, 138 µs, 3 %. An exact one below one of these has a prefix of its own, for
 * 0.160 ms wouldn't fit. What is counted or sent the figure beside it says.
 */
export function tick(value: number, largest: number, unit: string, isExact: boolean): string {
  const written = isExact ? significant : trimmed;
  if (unit === "ratio") return `${written(value * 100)} %`;
  const isBelowOne = isExact && value > 0 && value < prefixFor(largest, unit)[0];
  const [factor, prefix] = prefixFor(isBelowOne ? value : largest, unit);
  const shown = unit === "s" ? joined(prefix, unit) : prefix;
  return value === 0 ? "0" : `${written(value / factor)}${shown ? ` ${shown}` : ""}`;
}
