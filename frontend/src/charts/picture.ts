// A chart as a picture that is understood without its page: title, what it shows, legend, and the chart below.
import { heatStops } from "./heat/heat_scale";
import { gapWords, hasShownGaps, hasShownPending, heatWords, pendingWords } from "./legend";
import { CROSS, DASHES, LEGEND_OFFSETS, MARKER_BOX, PENDING, SWATCH, shape } from "./drawing/marks";
import { RING_DASH } from "./drawing/levels";
import { leftOutWords } from "./left_out";
import type { Heat, Series, Spec } from "./spec";
import { type Palette, faint, palette } from "./theme";
import { say } from "../text/words";
import { wrapped } from "./wrapping";

const MARGIN = 12;
const ROW = 18;
const SQUARE = 12;
const FAMILY = "system-ui, sans-serif";
const TITLE = `600 15px ${FAMILY}`;
const META = `12px ${FAMILY}`;

/** An entry of the legend; `paint` draws its swatch in a box of 12 pixels height. */
interface Entry {
  swatch: number;
  words: string;
  paint: (ctx: CanvasRenderingContext2D) => void;
}

interface Line {
  font: string;
  color: string;
  words: string;
}

/** Draw the chart of a canvas with what stands above it, on the theme's ground: a transparent one can't be read in a mail of the other theme. */
export function picture(chart: HTMLCanvasElement, spec: Spec, hidden: ReadonlySet<string>): HTMLCanvasElement | null {
  const colors = palette();
  const copy = document.createElement("canvas");
  const ctx = copy.getContext("2d");
  if (!ctx) return null;
  const ratio = chart.width / (chart.clientWidth || chart.width);
  const width = chart.width / ratio;
  const lines = [
    ...lineWrapped(ctx, { font: TITLE, color: colors.text, words: spec.title }, width - 2 * MARGIN),
    ...lineWrapped(ctx, { font: META, color: colors.soft, words: spec.subtitle }, width - 2 * MARGIN),
    ...lineWrapped(ctx, { font: META, color: colors.soft, words: leftOutWords(spec, hidden) }, width - 2 * MARGIN),
  ];
  const rows = legendRows(ctx, entries(spec, hidden, colors), width - 2 * MARGIN);
  const top = MARGIN + (lines.length + rows.length) * ROW;
  copy.width = chart.width;
  copy.height = chart.height + Math.round((top + MARGIN) * ratio);
  ctx.fillStyle = colors.ground;
  ctx.fillRect(0, 0, copy.width, copy.height);
  ctx.drawImage(chart, 0, Math.round(top * ratio));
  ctx.scale(ratio, ratio);
  ctx.textBaseline = "middle";
  lines.forEach((line, index) => write(ctx, line, MARGIN, MARGIN + (index + 0.5) * ROW));
  rows.forEach((row, index) => drawLegend(ctx, row, MARGIN + (lines.length + index + 0.5) * ROW, colors.text));
  return copy;
}

function write(ctx: CanvasRenderingContext2D, { font, color, words }: Line, x: number, y: number): void {
  ctx.font = font;
  ctx.fillStyle = color;
  ctx.fillText(words, x, y);
}

/** Break a line where it would leave the picture. */
function lineWrapped(ctx: CanvasRenderingContext2D, line: Line, width: number): Line[] {
  ctx.font = line.font;
  return wrapped(line.words, (words) => ctx.measureText(words).width <= width).map((words) => ({ ...line, words }));
}

/** The entries of the legend: the lines that are shown, and what crosses and a heat map's colours mean. */
function entries(spec: Spec, hidden: ReadonlySet<string>, colors: Palette): Entry[] {
  const lines = spec.series.filter(({ id }) => !hidden.has(id)).map((series) => lineEntry(series, colors));
  const gaps = hasShownGaps(spec.series, hidden) ? [{ swatch: MARKER_BOX, words: gapWords(), paint: outlined(CROSS, colors) }] : [];
  const pending = hasShownPending(spec.series, hidden) ? [{ swatch: MARKER_BOX, words: pendingWords(), paint: outlined(PENDING, colors) }] : [];
  return [...lines, ...gaps, ...pending, ...changeEntries(spec, colors), ...(spec.heat ? heatEntries(spec.heat, colors) : [])];
}

function lineEntry({ color, dash, label, marker, is_hollow: isHollow }: Series, colors: Palette): Entry {
  const paint = (ctx: CanvasRenderingContext2D): void => {
    ctx.strokeStyle = ctx.fillStyle = colors.series(color);
    ctx.lineWidth = 2;
    ctx.setLineDash(DASHES[dash]);
    ctx.lineDashOffset = LEGEND_OFFSETS[dash] ?? 0;
    ctx.stroke(new Path2D(`M0 6H${SWATCH}`));
    ctx.setLineDash([]);
    ctx.translate((SWATCH - MARKER_BOX) / 2, 0);
    const outline = new Path2D(shape(marker));
    if (isHollow) [ctx.fillStyle, ctx.lineWidth] = [colors.ground, 1.5];
    ctx.fill(outline);
    if (isHollow) ctx.stroke(outline);
  };
  return { swatch: SWATCH, words: label, paint };
}

function outlined(outline: string, colors: Palette): Entry["paint"] {
  return (ctx) => {
    ctx.strokeStyle = colors.text;
    ctx.lineWidth = 1.5;
    ctx.stroke(new Path2D(outline));
  };
}

function changeEntries({ levels, rings }: Spec, colors: Palette): Entry[] {
  const bar = (ctx: CanvasRenderingContext2D): void => {
    ctx.fillStyle = faint(colors.soft, 0.6);
    ctx.fillRect(0, 4, MARKER_BOX, 5);
  };
  const ring = (isAgain: boolean) => (ctx: CanvasRenderingContext2D): void => {
    ctx.strokeStyle = colors.text;
    ctx.setLineDash(isAgain ? RING_DASH : []);
    ctx.stroke(new Path2D("M7 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"));
    ctx.setLineDash([]);
  };
  return [
    ...(levels?.length ? [{ swatch: MARKER_BOX, words: say("level"), paint: bar }] : []),
    ...(rings ?? []).map(({ label, kind }) => ({ swatch: MARKER_BOX, words: label, paint: ring(kind === "again") })),
  ];
}

function heatEntries(heat: Heat, colors: Palette): Entry[] {
  const swatches = heatStops(heat, colors).map(({ color, words }) => ({
    swatch: SQUARE, words, paint: (ctx: CanvasRenderingContext2D) => {
      ctx.fillStyle = color;
      ctx.fillRect(0, 0, SQUARE, SQUARE);
    },
  }));
  return [{ swatch: 0, words: heatWords(), paint: () => undefined }, ...swatches];
}

function entryWidth(ctx: CanvasRenderingContext2D, { swatch, words }: Entry): number {
  return swatch + 6 + ctx.measureText(words).width + 16;
}

function legendRows(ctx: CanvasRenderingContext2D, all: Entry[], width: number): Entry[][] {
  ctx.font = META;
  const rows: Entry[][] = [];
  let used = Infinity;
  for (const entry of all) {
    const needed = entryWidth(ctx, entry);
    if (used + needed > width) [used, rows[rows.length]] = [0, []];
    rows.at(-1)?.push(entry);
    used += needed;
  }
  return rows;
}

function drawLegend(ctx: CanvasRenderingContext2D, row: Entry[], y: number, color: string): void {
  let x = MARGIN;
  for (const entry of row) {
    ctx.save();
    ctx.translate(x, y - 6);
    entry.paint(ctx);
    ctx.restore();
    write(ctx, { font: META, color, words: entry.words }, x + (entry.swatch ? entry.swatch + 6 : 0), y);
    x += entryWidth(ctx, entry);
  }
}
