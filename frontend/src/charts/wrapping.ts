// Lines that fit a width. A canvas breaks none by itself.

// A word with the space behind it; a Chinese character, which has none, with the punctuation that may not begin a line.
const PIECES = /[\u2e80-\u9fff][\u3000-\u303f\uff00-\uffef]*\s*|[^\s\u2e80-\u9fff]+\s*/gu;

/** Break words where they would no longer fit; a piece that is too long stands alone. */
export function wrapped(words: string, isFitting: (line: string) => boolean): string[] {
  const lines: string[] = [];
  for (const piece of words.match(PIECES) ?? []) {
    const longer = (lines.at(-1) ?? "") + piece;
    if (lines.length && !isFitting(longer.trimEnd())) lines.push(piece);
    else lines.splice(-1, 1, longer);
  }
  return lines.map((line) => line.trimEnd());
}
