// What a shared page needs besides its charts: the theme, times in the reader's zone, copying and printing.
import { startActions } from "./shell/actions";
import { startTheme } from "./shell/theme";
import { showTimes } from "./text/times";

const WALL_MILLISECONDS = 300_000;

startTheme();
startActions();
showTimes(document);
startWall();

/** Show a live page anew every five minutes, as on a wall; while the server is away what it showed stands. */
function startWall(): void {
  if (!document.querySelector("[data-live-page]")) return;
  const again = `${location.pathname}?again=1`;
  window.setInterval(() => {
    fetch(again).then(({ ok }) => { if (ok) location.replace(again); }, () => undefined);
  }, WALL_MILLISECONDS);
}
