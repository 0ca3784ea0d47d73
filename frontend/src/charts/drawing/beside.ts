// Lines that have their places in common: how far aside each is drawn, so that none hides another.
import type { Chart } from "chart.js";

import type { Drawn } from "../config";

// Of two in one colour, as of what was sent and received, the whiskers' ends don't touch.
const WHISKERS_APART = 6;
const WHISKERS_REACH = 10;
// Where there is one place only, no line leads to it: markers and repetitions go aside with their whiskers.
const ALONE_APART = 14;
const ALONE_REACH = 84;

/** How many pixels aside a line's whiskers are drawn at a place that it shares with others. */
export function asides(chart: Chart): { isShared: boolean; of: (line: Drawn, x: number) => number } {
  const shown = medians(chart);
  const [apart, reach] = hasOnePlace(shown) ? [ALONE_APART, ALONE_REACH] : [WHISKERS_APART, WHISKERS_REACH];
  const at = new Map<number, Drawn[]>();
  for (const line of shown) {
    for (const { x, source } of line.data) {
      if (source.y !== null) at.set(x, [...(at.get(x) ?? []), line]);
    }
  }
  return {
    isShared: shown.length > 1,
    of(line, x) {
      const there = at.get(x) ?? [];
      const step = Math.min(apart, reach / Math.max(1, there.length - 1));
      return there.includes(line) ? (there.indexOf(line) - (there.length - 1) / 2) * step : 0;
    },
  };
}

/** Move what was laid out at the only place aside; Chart.js lays it out anew with every update. */
export function moveAside(chart: Chart): void {
  const shown = medians(chart);
  if (!hasOnePlace(shown)) return;
  const { of } = asides(chart);
  const bySeries = new Map(shown.map((line) => [line.series.id, of(line, line.data[0]?.x ?? NaN)]));
  chart.data.datasets.forEach((each, index) => {
    const aside = bySeries.get((each as unknown as Drawn).series.id) ?? 0;
    for (const element of chart.getDatasetMeta(index).data) element.x += aside;
  });
}

function medians(chart: Chart): Drawn[] {
  const lines = chart.data.datasets as unknown as Drawn[];
  return lines.filter(({ role, data }, index) => role === "median" && chart.isDatasetVisible(index) && data.some(({ source }) => source.y !== null));
}

function hasOnePlace(lines: Drawn[]): boolean {
  return lines.length > 1 && new Set(lines.flatMap(({ data }) => data.map(({ x }) => x))).size === 1;
}
