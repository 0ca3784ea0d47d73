// The running trial: a line that grows with each interval, drawn by the same card as every chart.
import { type Card, card } from "./card";
import { type Spec, type SpecPoint, largest } from "./spec";

/** An interval as the worker passes it on from the engine. */
export interface IntervalMessage {
  trial: number;
  index: number;
  metric: string;
  interval: { start_seconds: number; end_seconds: number; metrics: Record<string, number>; warmup?: boolean } | null;
}

type Metrics = Record<string, { label: string; unit: string }>;

/** Show intervals under `root` as they come; a new trial starts a new line. */
export function runningTrial(root: HTMLElement, metrics: Metrics): { add: (message: IntervalMessage) => void; end: () => void } {
  let shown: Card | null = null;
  let trial = 0;
  let points: SpecPoint[] = [];

  function add(message: IntervalMessage): void {
    const { interval, metric } = message;
    if (!interval) return;
    if (message.trial !== trial) [trial, points] = [message.trial, []];
    const y = interval.metrics[metric] ?? null;
    points.push({ x: interval.end_seconds, y, n: 0, low: null, high: null, repetitions: [], href: "", reason: "not measured" });
    const spec = specification(message, metrics[metric] ?? { label: metric, unit: "" }, points);
    if (shown) shown.update(spec, largest(spec));
    else {
      shown = card(spec, largest(spec));
      root.prepend(shown.element);
    }
  }

  function end(): void {
    shown?.destroy();
    shown?.element.remove();
    shown = null;
  }

  return { add, end };
}

function specification(message: IntervalMessage, metric: { label: string; unit: string }, points: SpecPoint[]): Spec {
  return {
    id: "running",
    title: "Running now",
    subtitle: `Trial ${message.index}, interval by interval`,
    form: "time",
    x: { label: "Time", unit: "s", scale: "linear", from_zero: true, ticks: [], categories: [] },
    y: { label: metric.label, unit: metric.unit, scale: "linear", from_zero: true, ticks: [], categories: [] },
    series: [{ id: "running", label: metric.label, color: 0, dash: "solid", marker: "circle", points: [...points] }],
    lines: [],
    table: {
      columns: [{ key: "end", label: "Until", unit: "s" }, { key: "value", label: metric.label, unit: metric.unit }],
      rows: points.map((point) => ({ end: point.x, value: point.y })),
    },
    csv_url: "",
  };
}
