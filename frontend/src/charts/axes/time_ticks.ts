// Ticks of a time axis: at full minutes, hours or days of the reader's zone.
import { chosenZone, wall, zoneOffset } from "../../text/zone";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 5, 15, 30].map((count) => count * SECOND),
  ...[1, 5, 15, 30].map((count) => count * MINUTE),
  ...[1, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];
const MOST_TICKS = 8;

/** Times between two, in milliseconds, that a reader's clock shows as round. */
export function timeTicks(low: number, high: number): number[] {
  const step = STEPS.find((each) => (high - low) / each <= MOST_TICKS) ?? 365 * DAY;
  const ticks: number[] = [];
  for (let place = Math.ceil(local(low) / step); ; place += 1) {
    const tick = fromLocal(place * step);
    if (tick > high) return ticks;
    if (tick >= low) ticks.push(tick);
  }
}

/** Whether days need their year: of more than a year there are two of each. */
export function isOverYears(low: number, high: number): boolean {
  return high - low > 366 * DAY;
}

/** What the ticks of a span leave out, in words: the days of clock times, the years of days. Empty where they have them. */
export function commonDate(low: number, high: number): string {
  // Clock times over midnight too: on a narrow chart the tick that would name the day may be left out.
  if (high - low <= MOST_TICKS * 12 * HOUR) {
    return new Intl.DateTimeFormat(language(), { timeZone: chosenZone(), day: "numeric", month: "short", year: "numeric" }).formatRange(low, high);
  }
  if (isOverYears(low, high)) return "";
  const [begin, end] = [low, high].map((each) => String(wall(new Date(each)).getUTCFullYear()));
  return begin === end ? (begin ?? "") : `${begin}–${end}`;
}

/** A tick in words: midnight is the day it begins, seconds are shown where there are some. */
export function timeTick(value: number, hasYear = false): string {
  const time = new Date(value);
  if (value % MINUTE !== 0) return clock(time, true);
  const shown = wall(time);
  const isMidnight = shown.getUTCHours() === 0 && shown.getUTCMinutes() === 0;
  if (isMidnight) return shown.toLocaleDateString(language(), { timeZone: "UTC", month: "short", day: "numeric", ...(hasYear ? { year: "numeric" } : {}) });
  return clock(time);
}

/** The time of day by 24 hours, as all pages have it: 02:13, 02:13:05. */
export function clock(time: Date, hasSeconds = false): string {
  return wall(time).toISOString().slice(11, hasSeconds ? 19 : 16);
}

/** The page's language, which need not be the browser's. */
function language(): string | undefined {
  return globalThis.document?.documentElement.lang || undefined;
}

/** The clock on the wall as if it were UTC: a day of 23 hours keeps its ticks at full hours. */
function local(value: number): number {
  return value + zoneOffset(value);
}

function fromLocal(value: number): number {
  const guess = value - zoneOffset(value);
  return value - zoneOffset(guess);
}
