// The chart specification as benchweb/charts/spec.py writes it.

export type Scale = "linear" | "log2" | "log" | "category" | "time";

export interface Axis {
  label: string;
  unit: string;
  scale: Scale;
  from_zero: boolean;
  ticks: number[];
  categories: string[];
}

export interface SpecPoint {
  x: number | string;
  y: number | null;
  n: number;
  low: number | null;
  high: number | null;
  repetitions: number[];
  href: string;
  reason: string;
}

export type Marker = "circle" | "rect" | "triangle" | "rectRot";

export interface Series {
  id: string;
  label: string;
  color: number;
  dash: "solid" | "dashed" | "dotted";
  marker: Marker;
  points: SpecPoint[];
}

export interface Spec {
  id: string;
  title: string;
  subtitle: string;
  form: string;
  x: Axis;
  y: Axis;
  series: Series[];
  lines: { label: string; y: number }[];
  table: { columns: { key: string; label: string; unit: string }[]; rows: Record<string, unknown>[] };
  csv_url: string;
}

/** Where a point stands on the x axis: a category's place, a time's milliseconds, or the number itself. */
export function xValue(spec: Spec, x: number | string): number {
  if (spec.x.scale === "category") return spec.x.categories.indexOf(String(x));
  return typeof x === "number" ? x : Date.parse(x);
}

/** The largest value that a chart shows, repetitions included. */
export function largest(spec: Spec): number {
  const values = spec.series.flatMap(({ points }) => points.flatMap((point) => [point.y ?? 0, point.high ?? 0]));
  return Math.max(0, ...values.filter(Number.isFinite));
}
