// What scripts say, in the reader's language: the server lists the translations, English needs none.

let known: Record<string, string> | null = null;

/** Say a text; `{name}` in it is filled in. The texts are found in the sources, so each is written out here. */
export function say(text: string, places: Record<string, string | number> = {}): string {
  known ??= read();
  return (known[text] ?? text).replace(/\{(\w+)\}/g, (whole, name: string) => String(places[name] ?? whole));
}

function read(): Record<string, string> {
  const listed = typeof document === "undefined" ? null : document.getElementById("words");
  return listed?.textContent ? (JSON.parse(listed.textContent) as Record<string, string>) : {};
}
