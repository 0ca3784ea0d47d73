// What a reader has chosen on a chart is in the address: a link, a reload and the way back show the same.

/** The chosen value of a name, or an empty text. */
export function chosen(name: string): string {
  return new URL(location.href).searchParams.get(name) ?? "";
}

/** Keep a choice; an empty text is none. */
export function keep(name: string, value: string): void {
  const url = new URL(location.href);
  if ((url.searchParams.get(name) ?? "") === value) return;
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  history.replaceState(history.state, "", url);
}
