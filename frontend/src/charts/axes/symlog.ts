// An axis that is logarithmic on both sides of zero: differences reach over decades, up and down.
import { type CoreScaleOptions, Scale, type Tick } from "chart.js";

import type { Spec } from "../spec";
import { drawnValues } from "./value_range";

const MOST_DECADES = 6;
const TICK_PIXELS = 22;
// With few decades 1, 2 and 5 of each have a label.
const FEW_DECADES = 2;

/** The size up to which the axis is nearly linear: the power of ten below the smallest value but zero. */
export function linearUpTo(spec: Spec): number {
  const sizes = drawnValues(spec).map(Math.abs).filter((each) => each > 0);
  if (!sizes.length) return 1;
  const [least, most] = [sizes.reduce((a, b) => Math.min(a, b)), sizes.reduce((a, b) => Math.max(a, b))];
  return 10 ** Math.floor(Math.log10(Math.max(least, most / 10 ** MOST_DECADES)) + 1e-9);
}

/** A value on the axis: zero stays zero, and the sign is kept. */
export function symlog(value: number, linear: number): number {
  return Math.sign(value) * Math.log10(1 + Math.abs(value) / linear);
}

/** The value at a place of the axis. */
export function inverse(place: number, linear: number): number {
  return Math.sign(place) * (10 ** Math.abs(place) - 1) * linear;
}

/** Zero and powers of ten on both sides, none so near to another that their labels touch. */
export function symlogTicks(low: number, high: number, linear: number, pixels: number): number[] {
  const most = Math.max(Math.abs(low), Math.abs(high), linear);
  const [first, last] = [Math.round(Math.log10(linear)), Math.floor(Math.log10(most) + 1e-9)];
  const steps = last - first <= FEW_DECADES ? [1, 5, 2] : [1];
  const sizes = steps.flatMap((step) => Array.from({ length: last - first + 1 }, (_, index) => Number(`${step}e${last - index}`)));
  const perPlace = pixels / (symlog(high, linear) - symlog(low, linear) || 1);
  const kept: number[] = [0];
  for (const tick of sizes.flatMap((size) => [size, -size])) {
    const isFree = kept.every((other) => Math.abs(symlog(tick, linear) - symlog(other, linear)) * perPlace >= TICK_PIXELS);
    if (tick >= low && tick <= high && isFree) kept.push(tick);
  }
  return kept.sort((a, b) => a - b);
}

/** The axis for Chart.js, by its public means alone. */
export class SymlogScale extends Scale<CoreScaleOptions & { linear: number }> {
  static id = "symlog";
  static defaults = {};

  override determineDataLimits(): void {
    const { min, max } = this.getMinMax(true);
    this.min = Number.isFinite(min) ? Math.min(0, min) : 0;
    this.max = Number.isFinite(max) ? Math.max(0, max) : 0;
    if (this.min === this.max) this.max = 1;
  }

  override buildTicks(): Tick[] {
    return symlogTicks(this.min, this.max, this.options.linear, this.height).map((value) => ({ value }));
  }

  override getPixelForValue(value: number): number {
    if (!Number.isFinite(value)) return NaN;
    const [low, high] = this.ends();
    return this.getPixelForDecimal((symlog(value, this.options.linear) - low) / (high - low));
  }

  override getValueForPixel(pixel: number): number {
    const [low, high] = this.ends();
    return inverse(low + this.getDecimalForPixel(pixel) * (high - low), this.options.linear);
  }

  private ends(): [number, number] {
    return [symlog(this.min, this.options.linear), symlog(this.max, this.options.linear)];
  }
}
