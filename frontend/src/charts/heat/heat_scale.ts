// A heat map's colours: which share has which, and the few that its legend names.
import { trimmed } from "../../text/format";
import { type Heat, largestShare } from "../spec";
import { type Palette, heatColor } from "../theme";

const NAMED = [0.001, 0.01, 0.1] as const;
// A colour so near to the strongest can't be told from it.
const NEAR_MOST = 0.5;

/** Give the colour of a share; `most` is the largest of the map. By the cube root: a tail of one in a thousand is what one looks for. */
export function shareColor(share: number, most: number, colors: Palette): string {
  return heatColor(Math.cbrt(share / most), colors.isDark);
}

/** The shares that the legend names, up to the largest; before them what the rarest cells look like. */
export function heatStops(heat: Heat, colors: Palette): { color: string; words: string }[] {
  const most = largestShare(heat);
  const named = namedShares(most).map((share) => ({ color: shareColor(share, most, colors), words: `${trimmed(share * 100)} %` }));
  const rarest = { color: shareColor(NAMED[0] / 10, most, colors), words: `< ${trimmed(NAMED[0] * 100)} %` };
  return named.length && most > NAMED[0] ? [rarest, ...named] : named;
}

/** Powers of ten below the largest share, and the largest. */
export function namedShares(most: number): number[] {
  return most > 0 ? [...NAMED.filter((share) => share < most * NEAR_MOST), most] : [];
}
