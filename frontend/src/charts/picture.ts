// A chart as a picture that is understood without its page: title, what it shows, legend, and the chart below.
import { shape } from "./legend";
import type { Series, Spec } from "./spec";
import { type Palette, palette } from "./theme";

const MARGIN = 12;
const ROW = 18;
const SWATCH = 24;
const FAMILY = "system-ui, sans-serif";
const TITLE = `600 15px ${FAMILY}`;
const META = `12px ${FAMILY}`;
const DASHES = { solid: [], dashed: [5, 3], dotted: [2, 2] };

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
    ...wrapped(ctx, { font: TITLE, color: colors.text, words: spec.title }, width - 2 * MARGIN),
    ...wrapped(ctx, { font: META, color: colors.soft, words: spec.subtitle }, width - 2 * MARGIN),
  ];
  const rows = legendRows(ctx, spec.series.filter(({ id }) => !hidden.has(id)), width - 2 * MARGIN);
  const top = MARGIN + (lines.length + rows.length) * ROW;
  copy.width = chart.width;
  copy.height = chart.height + Math.round((top + MARGIN) * ratio);
  ctx.fillStyle = colors.ground;
  ctx.fillRect(0, 0, copy.width, copy.height);
  ctx.drawImage(chart, 0, Math.round(top * ratio));
  ctx.scale(ratio, ratio);
  ctx.textBaseline = "middle";
  lines.forEach((line, index) => write(ctx, line, MARGIN, MARGIN + (index + 0.5) * ROW));
  rows.forEach((row, index) => drawLegend(ctx, row, MARGIN + (lines.length + index + 0.5) * ROW, colors));
  return copy;
}

function write(ctx: CanvasRenderingContext2D, { font, color, words }: Line, x: number, y: number): void {
  ctx.font = font;
  ctx.fillStyle = color;
  ctx.fillText(words, x, y);
}

/** Break a line where it would leave the picture. */
function wrapped(ctx: CanvasRenderingContext2D, line: Line, width: number): Line[] {
  ctx.font = line.font;
  const lines: string[] = [];
  for (const word of line.words.split(" ").filter(Boolean)) {
    const longer = lines.length ? `${lines.at(-1) ?? ""} ${word}` : word;
    if (lines.length && ctx.measureText(longer).width > width) lines.push(word);
    else lines.splice(-1, 1, longer);
  }
  return lines.map((words) => ({ ...line, words }));
}

function legendWidth(ctx: CanvasRenderingContext2D, series: Series): number {
  return SWATCH + 6 + ctx.measureText(series.label).width + 16;
}

function legendRows(ctx: CanvasRenderingContext2D, all: Series[], width: number): Series[][] {
  ctx.font = META;
  const rows: Series[][] = [];
  let used = Infinity;
  for (const series of all) {
    const needed = legendWidth(ctx, series);
    if (used + needed > width) [used, rows[rows.length]] = [0, []];
    rows.at(-1)?.push(series);
    used += needed;
  }
  return rows;
}

function drawLegend(ctx: CanvasRenderingContext2D, row: Series[], y: number, colors: Palette): void {
  let x = MARGIN;
  for (const series of row) {
    ctx.strokeStyle = ctx.fillStyle = colors.series(series.color);
    ctx.lineWidth = 2;
    ctx.setLineDash(DASHES[series.dash]);
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + SWATCH, y);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.save();
    ctx.translate(x, y - 6);
    ctx.fill(new Path2D(shape(series.marker)));
    ctx.restore();
    write(ctx, { font: META, color: colors.text, words: series.label }, x + SWATCH + 6, y);
    x += legendWidth(ctx, series);
  }
}
