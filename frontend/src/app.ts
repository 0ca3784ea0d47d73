// What every page loads: htmx, the theme, keys, times, and live updates.
import htmx from "htmx.org";

import { startActions } from "./shell/actions";
import { startCopying } from "./tables/copied_tables";
import { showEdges, startEdges } from "./tables/edges";
import { startKeys } from "./shell/keys";
import { startLive } from "./live/page";
import { keepScrolled, shortenLists } from "./tables/long_lists";
import { loadScripts, startParts } from "./shell/parts";
import { startSearch } from "./shell/search";
import { startTheme } from "./shell/theme";
import { showTimes, startClocks } from "./text/times";
import { startTriage } from "./shell/triage";
import { startViews } from "./shell/views";
import { keepZone } from "./text/zone";

// The content security policy allows neither inline styles nor eval.
htmx.config.includeIndicatorStyles = false;
htmx.config.allowEval = false;
htmx.config.allowScriptTags = false;
// A page in the history cache would show a running run as it was: fetch it again instead.
htmx.config.historyCacheSize = 0;
htmx.config.refreshOnHistoryMiss = true;

startTheme();
keepZone();
startKeys();
startActions();
startCopying();
keepScrolled();
startSearch();
startViews();
startClocks();
startEdges();
startParts();
startTriage();
showSection();
htmx.onLoad((content) => {
  showTimes(content as Element);
  showEdges(content as Element);
  startLive(content as Element);
  shortenLists(content as Element);
  loadScripts();
});
Object.assign(window, { htmx });

/** On a phone the sections scroll sideways: the one that is shown must not be out of sight. */
function showSection(): void {
  const [bar, shown] = [document.querySelector(".sections"), document.querySelector(".sections [aria-current]")];
  if (!bar || !shown) return;
  const [around, inside] = [bar.getBoundingClientRect(), shown.getBoundingClientRect()];
  // The bar alone: scrollIntoView would take a page that was reloaded further down to its top.
  bar.scrollLeft += inside.left + inside.width / 2 - around.left - around.width / 2;
}
