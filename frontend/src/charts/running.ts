// What is measured right now: a line that grows with each interval, drawn by the same card as every chart.
import { type Card, card } from "./card";
import { type Series, type Spec, type SpecPoint, largest } from "./spec";
import { say } from "../text/words";

/** An interval as the worker passes it on from the engine. */
export interface IntervalMessage {
  trial: number;
  index: number;
  metric: string;
  interval: { start_seconds: number; end_seconds: number; metrics: Record<string, number> } | null;
}

interface Metric {
  label: string;
  unit: string;
  quantity: string;
}

// Enough for a few minutes of one-second intervals; the results hold all of them.
const MOST_POINTS = 240;
const BEFORE_COLOR = 7;

/** Show intervals in `root` as they come: the trial under way as a line of its own, those before it as another. */
export function runningTrial(root: HTMLElement, metrics: Record<string, Metric>): (message: IntervalMessage) => void {
  let shown: Card | null = null;
  let [trial, metric, offset] = [0, "", 0];
  let [before, points]: [SpecPoint[], SpecPoint[]] = [[], []];

  return function add(message) {
    const { interval } = message;
    if (!interval) return;
    if (message.metric !== metric) [metric, before, points, trial] = [message.metric, [], [], 0];
    if (message.trial !== trial) {
      offset = Number((points.at(-1) ?? before.at(-1))?.x ?? 0);
      // No value at all between two trials: a gap, where null would be a missing measurement.
      if (points.length) before = [...before, ...points, point(offset, NaN)].slice(-MOST_POINTS);
      [points, trial] = [[], message.trial];
    }
    const y = interval.metrics[metric] ?? null;
    const step = [point(offset + interval.start_seconds, y), point(offset + interval.end_seconds, y)];
    points = [...points, ...step].slice(-MOST_POINTS);
    const spec = specification(message.index, metrics[metric] ?? { label: metric, unit: "", quantity: metric }, before, points);
    if (shown) shown.update(spec, largest(spec));
    else {
      shown = card(spec, largest(spec));
      root.replaceChildren(shown.element);
    }
  };
}

function point(x: number, y: number | null): SpecPoint {
  return { x, y, n: 0, low: null, high: null, repetitions: [], href: "", reason: say("not measured") };
}

/** The second of each interval's two points; a gap has none. */
function ends(points: SpecPoint[]): SpecPoint[] {
  return points.filter((each, index) => index > 0 && !Number.isNaN(each.y) && Number(points[index - 1]?.x) < Number(each.x));
}

function specification(index: number, metric: Metric, before: SpecPoint[], points: SpecPoint[]): Spec {
  const now = say("trial {index}", { index });
  const earlier = say("the latest before this one");
  const series: Series[] = [{ id: "running", label: now, color: 0, dash: "solid", marker: "circle", points }];
  if (before.length) series.push({ id: "before", label: earlier, color: BEFORE_COLOR, dash: "dotted", marker: "rect", points: before });
  const row = (trial: string) => ({ x, y }: SpecPoint) => ({ trial, end: x, value: y });
  return {
    id: "running",
    title: say("Measured live"),
    subtitle: say("{metric}, interval by interval", { metric: metric.label }),
    form: "time",
    x: { label: say("Measured time of these trials"), unit: "s", scale: "linear", from_zero: false, ticks: [], categories: [] },
    y: { label: metric.quantity, unit: metric.unit, scale: "linear", from_zero: true, ticks: [], categories: [] },
    series,
    lines: [],
    table: {
      columns: [{ key: "trial", label: say("Trial's number"), unit: "" }, { key: "end", label: say("Until"), unit: "s" }, { key: "value", label: metric.label, unit: metric.unit }],
      rows: [...ends(before).map(row(earlier)), ...ends(points).map(row(now))],
    },
    csv_url: "",
  };
}
