// How a line is told besides its colour: what it is dashed like, and its markers; on the canvas, in the legend, in a picture.
import type { Dash, Marker } from "../spec";

/** Lengths of strokes and of the room between them. */
export const DASHES: Record<Dash, number[]> = { solid: [], dashed: [6, 4], dotted: [2, 3], dashdot: [8, 3, 2, 3], long: [14, 4] };

/** How far into its strokes a line begins in a legend: else its marker would hide the only gap of long ones. */
export const LEGEND_OFFSETS: Partial<Record<Dash, number>> = { long: 4 };

/** How strongly the other lines are drawn while one is looked at. */
export const FADED = 0.15;

/** A line's length in a legend: two of the longest strokes, seen on both sides of its marker. */
export const SWATCH = 36;
/** The width of the box that a marker's outline is in. */
export const MARKER_BOX = 24;

/** A marker's outline in a box of 24 × 12, as a path; its middle is at 12, 6. */
export function shape(kind: Marker): string {
  const outlines = {
    circle: "M8.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", rect: "M9 3h6v6h-6z", triangle: "M12 2L16 9.5H8z", rectRot: "M12 1.5L16.5 6L12 10.5L7.5 6z",
  };
  return outlines[kind];
}

/** A cross in the same box. */
export const CROSS = "M9 3L15 9M15 3L9 9";
/** A ring in the same box. */
export const PENDING = "M15 6a3 3 0 1 1-6 0a3 3 0 1 1 6 0";

// From here on two markers are two.
const MARKER_WIDTH = 9;
// So few points are each seen, however near: two that lie over each other are no line's dashes.
const FEW = 12;

/** Which points of a line are marked: those with room since the last one, those that no line leads to, and the latest. `places` are pixels, NaN a gap. */
export function marked(places: number[], room: number): number[] {
  let last = -Infinity;
  if (places.length <= FEW) room = 0;
  const latest = places.findLastIndex((place) => !Number.isNaN(place));
  return places.flatMap((place, index) => {
    if (Number.isNaN(place)) return [];
    const isAlone = [places[index - 1], places[index + 1]].every((beside) => beside === undefined || Number.isNaN(beside));
    if (!isAlone && place - last < (index === latest ? Math.min(room, MARKER_WIDTH) : room)) return [];
    last = place;
    return [index];
  });
}
