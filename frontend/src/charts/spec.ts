// The chart specification as benchweb/documents/charts.py writes it.

import { sitePath } from "../text/site_path";

export type Scale = "linear" | "log2" | "log" | "symlog" | "category" | "time";

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
  /** Yet to be measured, and not missing. */
  is_pending?: boolean;
}

/** What is shaded around a line: its borders, point by point. */
export interface Band {
  label: string;
  /** What the columns of an export call it, in every language alike. */
  key: string;
  low: (number | null)[];
  high: (number | null)[];
}

export interface Table {
  columns: { key: string; label: string; unit: string }[];
  // null for a row of each point: table.ts makes them.
  rows: Record<string, unknown>[] | null;
}

export type Marker = "circle" | "rect" | "triangle" | "rectRot";

export type Dash = "solid" | "dashed" | "dotted" | "dashdot" | "long";

export interface Series {
  id: string;
  label: string;
  color: number;
  dash: Dash;
  marker: Marker;
  is_hollow?: boolean;
  points: SpecPoint[];
  bands?: Band[];
  // Of the pair that the line is of, its hosts, endpoints and environment.
  ids?: Record<string, number | null>;
}

/** A flag on the time axis. */
export interface Mark {
  at: string;
  until: string;
  label: string;
  kind: "note" | "fact" | "alert";
  /** Where a flag leads to; empty for nowhere. */
  href: string;
}

/** What a line, by its id, held to from one time to another, and the interval that it lies in. */
export interface Level {
  of: string;
  since: string;
  until: string;
  y: number;
  low: number | null;
  high: number | null;
}

/** A point that is told apart. */
export interface Ring {
  at: string;
  y: number;
  label: string;
  kind: "change" | "again";
}

/** A quantity of its own below the chart, on the same x axis. */
export interface Strip {
  y: Axis;
  // Each tells more of a line of the chart, whose id is `of`.
  series: (Series & { of: string })[];
}

/** Shares of a whole: a column for each start, a row between each two edges. */
export interface Heat {
  starts: string[];
  ends: string[];
  edges: number[];
  shares: number[][];
  most?: number;
}

export interface Spec {
  id: string;
  title: string;
  subtitle: string;
  form: string;
  x: Axis;
  y: Axis;
  series: Series[];
  /** On a time axis a line may hold for a part of it; empty for its ends. */
  lines: { label: string; y: number; since?: string; until?: string }[];
  table: Table;
  csv_url: string;
  marks?: Mark[];
  levels?: Level[];
  rings?: Ring[];
  strip?: Strip | null;
  heat?: Heat | null;
  x_from?: string;
  x_to?: string;
  scale_group?: string;
  /** How much is drawn of it: all, or small inside a link, or in a row. */
  detail?: "full" | "small" | "row";
}

const FULL_SECOND = "2026-01-01T00:00:00Z";

/** Time, median, repetitions, lowest, highest, and the run's id: what was measured, as a long line's points are sent. */
type Measured = [string, number, number, number, number, number | null];

/** A series as it is sent: a long line's `points` are its gaps alone, and a band without borders has its points' extremes. */
type SentSeries = Omit<Series, "bands"> & { measured?: Measured[]; bands?: SentBand[] };
type SentBand = Pick<Band, "label" | "key"> & { low: Band["low"] | null; high: Band["high"] | null };

/** Read specifications as they are sent, with all that follows from their points filled in. */
export function received(sent: unknown): Spec[] {
  const specs = sent as Spec[];
  for (const series of specs.flatMap(({ series: lines, strip }) => [...lines, ...(strip?.series ?? [])]) as SentSeries[]) {
    if (series.measured?.length) series.points = together(series.measured.map(point), series.points);
    delete series.measured;
    for (const band of series.bands ?? []) {
      band.low ??= series.points.map(({ low }) => low);
      band.high ??= series.points.map(({ high }) => high);
    }
  }
  return specs;
}

/** Times are written alike, with all microseconds: the server leaves out those of a full second. */
function point([at, y, n, low, high, run]: Measured): SpecPoint {
  const x = at.length === FULL_SECOND.length ? `${at.slice(0, -1)}.000000Z` : at;
  return { x, y, n, low, high, repetitions: [], href: run === null ? "" : sitePath(`/runs/${run}`), reason: "" };
}

/** Texts of times that are written alike have their order; of one time, what was measured is first. */
function together(points: SpecPoint[], gaps: SpecPoint[]): SpecPoint[] {
  if (!gaps.length) return points;
  return [...points, ...gaps].sort((one, other) => (one.x < other.x ? -1 : one.x > other.x ? 1 : 0));
}

/** Where a point stands on the x axis: a category's place, a time's milliseconds, or the number itself. */
export function xValue(spec: Spec, x: number | string): number {
  if (spec.x.scale === "category") return spec.x.categories.indexOf(String(x));
  return typeof x === "number" ? x : Date.parse(x);
}

// A single slow answer in a million would press the line to the ground: a band may reach beyond the chart's top.
const MOST_BEYOND_LINE = 4;

/** The largest value that a chart shows, repetitions included. */
export function largest(spec: Spec): number {
  const values = spec.series.flatMap(({ points }) => points.flatMap((point) => [point.y ?? 0, point.high ?? 0]));
  const line = maximum(values);
  const bands = spec.series.flatMap(({ bands: all }) => (all ?? []).map(({ high }) => maximum(high.map((each) => each ?? 0))));
  return Math.max(line, ...bands.filter((each) => each <= line * MOST_BEYOND_LINE));
}

/** Whether a line has places without a value: each is a cross on the axis. */
export function hasGaps({ points }: Series): boolean {
  return points.some(({ y, is_pending: isPending }) => y === null && !isPending);
}

/** Whether a line has places that are yet to be measured: each is a ring on the axis. */
export function hasPending({ points }: Series): boolean {
  return points.some(({ is_pending: isPending }) => isPending);
}

/** The largest share of a heat map: its strongest colour. */
export function largestShare({ shares, most }: Heat): number {
  return most ?? shares.reduce((best, column) => Math.max(best, maximum(column)), 0);
}

/** Whether it is drawn small, inside a link of the page that says what it shows. */
export function isSmall({ detail }: Spec): boolean {
  return detail === "small" || detail === "row";
}

/** Whether a chart's x axis is the time that the whole page looks at. */
export function isLook(spec: Spec): boolean {
  return spec.x_from !== undefined && spec.x.scale === "time";
}

/** Spread into Math.max, some ten thousand values would overflow the stack. */
function maximum(values: number[]): number {
  return values.reduce((best, each) => (Number.isFinite(each) && each > best ? each : best), 0);
}
