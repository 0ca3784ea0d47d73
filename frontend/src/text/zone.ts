// The reader's time zone: the one chosen in the account, else the browser's; and what the clock on the wall shows there.
import { cookie } from "./cookies";
import { sitePath } from "./site_path";

const YEAR_SECONDS = 31_536_000;
const MINUTE = 60_000;

/** Tell the server the browser's zone: pages that compare zones are drawn there. The next page has it. */
export function keepZone(): void {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = `zone=${encodeURIComponent(zone)}; path=${sitePath("/")}; max-age=${YEAR_SECONDS}; samesite=lax`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The zone that the reader chose; undefined for the browser's own. */
export function chosenZone(): string | undefined {
  const zone = cookie("chosen_zone");
  return zone && format(zone) ? zone : undefined;
}

/** What is to be added to a time to have the reader's clock on the wall as if it were UTC, in milliseconds. */
export function zoneOffset(value: number): number {
  const zone = chosenZone();
  return zone ? offsetIn(zone, value) : -new Date(value).getTimezoneOffset() * MINUTE;
}

/** A time whose UTC fields are those of the reader's clock. */
export function wall(time: Date): Date {
  return new Date(time.getTime() + zoneOffset(time.getTime()));
}

function offsetIn(zone: string, value: number): number {
  const parts = format(zone)?.formatToParts(new Date(value)) ?? [];
  const [year, month, day, hour, minute, second] = ["year", "month", "day", "hour", "minute", "second"].map((name) =>
    Number(parts.find(({ type }) => type === name)?.value ?? 0),
  ) as [number, number, number, number, number, number];
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  return shown - Math.floor(value / 1000) * 1000;
}

/** Kept: a page has hundreds of times. A zone that this browser doesn't know is none. */
function format(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone);
  if (known) return known;
  try {
    const made = new Intl.DateTimeFormat("en-US", {
      timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
    });
    formats.set(zone, made);
    return made;
  } catch {
    return undefined;
  }
}
