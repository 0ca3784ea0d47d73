// The reader's time zone as a cookie: pages that compare zones are drawn on the server.

const YEAR_SECONDS = 31_536_000;

/** Tell the server the zone; the next page has it. */
export function keepZone(): void {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = `zone=${encodeURIComponent(zone)}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
}
