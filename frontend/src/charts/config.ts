// From a specification to Chart.js: a median line with markers per series, its repetitions as faint points.
import type { ChartConfiguration, ChartDataset, Point } from "chart.js";

import { text } from "../format";
import { type Range, xScale, xText, yScale } from "./axes";
import { type Series, type Spec, type SpecPoint, xValue } from "./spec";
import { type Palette, faint } from "./theme";

/** A drawn point that remembers what it stands for. */
export interface DrawnPoint extends Point {
  x: number;
  source: SpecPoint;
}

/** A dataset of ours: the line of a series, or its repetitions. */
export type Drawn = ChartDataset<"line", DrawnPoint[]> & { series: Series; role: "median" | "repetitions" };

const DASHES = { solid: [], dashed: [6, 4], dotted: [2, 3] };

/** The datasets of a specification, hidden series included. */
export function datasets(spec: Spec, hidden: ReadonlySet<string>, colors: Palette): Drawn[] {
  return spec.series.flatMap((series) => {
    const isHidden = hidden.has(series.id);
    return [medianLine(spec, series, isHidden, colors), repetitionPoints(spec, series, isHidden, colors)];
  });
}

/** The whole configuration; `top` is the common maximum of the charts of one quantity. */
export function configuration(
  spec: Spec, range: Range, top: number, hidden: ReadonlySet<string>, colors: Palette,
): ChartConfiguration<"line", DrawnPoint[]> {
  return {
    type: "line",
    data: { datasets: datasets(spec, hidden, colors) },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      spanGaps: false,
      layout: { padding: { top: 14, right: 10 } },
      interaction: { mode: "sameX" as "x", intersect: false },
      scales: { x: xScale(spec, range, colors), y: yScale(spec, top, colors) } as never,
      plugins: { legend: { display: false }, tooltip: tooltip(spec, colors) as never },
    },
  };
}

function medianLine(spec: Spec, series: Series, hidden: boolean, colors: Palette): Drawn {
  const color = colors.series(series.color);
  return {
    type: "line", label: series.label, series, role: "median", hidden,
    data: sorted(spec, series).map((source) => ({ x: xValue(spec, source.x), y: source.y ?? NaN, source })),
    borderColor: color, backgroundColor: color, borderWidth: 2, borderDash: DASHES[series.dash], tension: 0,
    pointStyle: series.marker, pointRadius: spec.form === "time" ? 2 : 4, pointHoverRadius: 6, pointBorderColor: colors.ground, pointBorderWidth: 1,
    order: 1,
  };
}

function repetitionPoints(spec: Spec, series: Series, hidden: boolean, colors: Palette): Drawn {
  const color = faint(colors.series(series.color), 0.35);
  return {
    type: "line", label: `${series.label}, repetitions`, series, role: "repetitions", hidden, showLine: false,
    data: sorted(spec, series).flatMap((source) =>
      source.repetitions.map((y) => ({ x: xValue(spec, source.x), y, source }))),
    pointStyle: "circle", pointRadius: 2.5, pointHoverRadius: 2.5, pointBorderWidth: 0,
    borderColor: color, backgroundColor: color, order: 2,
  };
}

function sorted(spec: Spec, series: Series): SpecPoint[] {
  return [...series.points].sort((a, b) => xValue(spec, a.x) - xValue(spec, b.x));
}

/** A point in words: its value, extremes and count, or why there is none. */
export function pointText(spec: Spec, series: Series, point: SpecPoint): string {
  if (point.y === null) return `${series.label}: — ${point.reason || "missing"}`;
  const value = `${series.label}: ${text(point.y, spec.y.unit)}`;
  if (point.n < 2 || point.low === null || point.high === null) return point.n ? `${value} · n=${point.n}` : value;
  return `${value} (${text(point.low, spec.y.unit)} to ${text(point.high, spec.y.unit)}) · n=${point.n}`;
}

function tooltip(spec: Spec, colors: Palette): object {
  return {
    animation: false, position: "aside", caretPadding: 12, boxWidth: 8, boxHeight: 8,
    backgroundColor: colors.ground, borderColor: colors.soft, borderWidth: 1, cornerRadius: 4, padding: 8,
    titleColor: colors.text, bodyColor: colors.text, usePointStyle: true, boxPadding: 4, caretSize: 0,
    filter: (item: { dataset: Drawn }) => item.dataset.role === "median",
    callbacks: {
      title: (items: { raw: DrawnPoint }[]) => (items[0] ? xText(spec, items[0].raw.x) : ""),
      label: (item: { dataset: Drawn; raw: DrawnPoint }) => pointText(spec, item.dataset.series, item.raw.source),
      labelPointStyle: (item: { dataset: Drawn }) => ({ pointStyle: item.dataset.series.marker, rotation: 0 }),
      labelColor: (item: { dataset: Drawn }) => {
        const color = colors.series(item.dataset.series.color);
        return { borderColor: color, backgroundColor: color };
      },
    },
  };
}
