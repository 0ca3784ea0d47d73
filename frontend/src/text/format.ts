// The one formatter of numbers in the browser; benchweb/common/formatting.py is its twin on the server.
import { say } from "./words";

/** A number split for display: `16.3` and `Gbit/s`. */
export interface Quantity {
  number: string;
  unit: string;
}

const MISSING = "—";
const PREFIXES: readonly [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
];
const BINARY: readonly [number, string][] = [
  [2 ** 30, "Gi"],
  [2 ** 20, "Mi"],
  [2 ** 10, "Ki"],
];
const WORDS = /^(pkt|transactions|connections|requests|segments|errors|responses|probes|operations)/;
const COUNTED = /^(pkt|transactions|connections|requests|segments|errors|responses|probes|operations|replies)$/;
// One of what is counted, where the language tells it from several.
const ONE_OF = /^([a-z]+)s$/;

/** Three significant digits, never in exponents: 16.3, 0.0123, 1,234 for counts that no prefix fits. */
export function significant(value: number): string {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(3));
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded)) + 1e-12));
  return withMinus(rounded.toFixed(Math.min(digits, 12)));
}

/** A negative number has a minus, which is as wide as a plus; a hyphen may end a line. */
function withMinus(number: string): string {
  return number.replace(/^-/, "−");
}

/** The SI prefix for a value: the largest that leaves a figure of at least 1. */
export function prefixFor(value: number, unit: string): [number, string] {
  if (!takesPrefix(unit) || value === 0) return [1, ""];
  // 999.6 shows as 1,000 in three digits: it belongs to the next prefix already.
  const size = Math.abs(Number(value.toPrecision(3)));
  const smallest: [number, string] = unit === "s" ? [1e-9, "n"] : [1, ""];
  const fitting = PREFIXES.find(([factor]) => size >= factor);
  if (!fitting || fitting[0] < smallest[0]) return smallest;
  return unit === "s" && fitting[0] > 1 ? [1, ""] : [...fitting];
}

/** The binary prefix for sizes up to `size`: factor and `Mi`, or 1 and nothing. */
export function binaryPrefixFor(size: number): [number, string] {
  const fitting = BINARY.find(([factor]) => size >= factor);
  return fitting ? [...fitting] : [1, ""];
}

/** Split a value in the catalog's unit into number and prefixed unit. */
export function quantity(value: number | null | undefined, unit: string): Quantity {
  if (value === null || value === undefined) return { number: MISSING, unit: "" };
  if (unit === "ratio") return { number: significant(value * 100), unit: "%" };
  if (unit === "B") return binary(value);
  const [factor, prefix] = prefixFor(value, unit);
  // What is counted: 3 of them are 3, and not 3.00.
  const isCount = COUNTED.test(unit) && Number.isInteger(value) && Math.abs(value) < 1000;
  const shown = joined(prefix, unit);
  if (isCount) return { number: withMinus(String(value)), unit: value === 1 ? shown.replace(ONE_OF, "$1").replace(/^replie$/, "reply") : shown };
  return { number: significant(value / factor), unit: shown };
}

/** One unit for all numbers of a column, that of the largest, and how each is written in it. */
export function columnUnit(values: readonly number[], unit: string): { unit: string; number: (value: number) => string } {
  if (unit === "ratio") return { unit: "%", number: (value) => significant(value * 100) };
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  // Sizes are said exactly: 64, 1,448, 16,384.
  const [factor, prefix] = unit === "B" ? [1, ""] : prefixFor(largest, unit);
  const isExact = factor === 1 && (unit === "B" || COUNTED.test(unit));
  return {
    unit: joined(prefix, unit),
    number: (value) => (isExact && Number.isInteger(value) ? withMinus(value.toLocaleString("en")) : significant(value / factor)),
  };
}

/** The same as one text: `16.3 Gbit/s`. */
export function text(value: number | null | undefined, unit: string): string {
  const { number, unit: shown } = quantity(value, unit);
  return shown ? `${number} ${shown}` : number;
}

/** A size on a log₂ axis: 1, 64, 1 Ki, 16 Ki. */
export function binaryTick(value: number): string {
  const fitting = BINARY.find(([factor]) => value >= factor);
  if (!fitting) return trimmed(value);
  const shown = trimmed(value / fitting[0]);
  // 1400 is no 1.37 Ki: a size is said exactly.
  return Number(shown) * fitting[0] === value ? `${shown} ${fitting[1]}` : String(value);
}

/** A prefix and a unit as one word where the unit is a symbol, apart where it is a word: `Gbit/s`, `k pkt/s`. */
export function joined(prefix: string, unit: string): string {
  const isWord = WORDS.test(unit);
  const said = isWord ? say(unit) : unit;
  return prefix && isWord ? `${prefix} ${said}` : `${prefix}${said}`;
}

/** Three significant digits without the zeros behind the point: what a setting was set to, not what was measured. */
export function trimmed(value: number): string {
  const shown = significant(value);
  return shown.includes(".") ? shown.replace(/\.?0+$/, "") : shown;
}

function binary(value: number): Quantity {
  if (isFrameSize(value)) return { number: value.toLocaleString("en"), unit: "B" };
  const fitting = BINARY.find(([factor]) => value >= factor);
  return fitting
    ? { number: trimmed(value / fitting[0]), unit: `${fitting[1]}B` }
    : { number: trimmed(value), unit: "B" };
}

/** Sizes of frames and segments are known by all their digits: 1,448 B, not 1.41 KiB. */
function isFrameSize(value: number): boolean {
  return Number.isInteger(value) && value > 1000 && value < 10_000 && value % 1024 !== 0;
}

function takesPrefix(unit: string): boolean {
  return unit !== "" && unit !== "s/GB";
}
