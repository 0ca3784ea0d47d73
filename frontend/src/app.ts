// What every page loads: htmx, the theme, the navigation, keys, times, and live updates.
import htmx from "htmx.org";

import { startActions } from "./shell/actions";
import { startDrops } from "./shell/drops";
import { startEntering } from "./shell/entering";
import { keepFolds, keepMenusInWindow, unfoldOnPaper } from "./shell/folds";
import { startImports } from "./shell/imports";
import { startCopying } from "./tables/copied_tables";
import { showEdges, startEdges } from "./tables/edges";
import { startKeys } from "./shell/keys";
import { startLive } from "./live/page";
import { keepScrolled, shortenLists } from "./tables/long_lists";
import { loadScripts, startParts, tellParts } from "./shell/parts";
import { startRail } from "./shell/rail";
import { startRows } from "./tables/rows";
import { offerSecrets } from "./shell/secrets";
import { startSearch } from "./shell/search";
import { startSession } from "./shell/session";
import { startDensity } from "./shell/density";
import { startTheme } from "./shell/theme";
import { startServerClock } from "./text/clock";
import { showTimes, startClocks } from "./text/times";
import { endToasts } from "./shell/toasts";
import { startTriage } from "./shell/triage";
import { startViews } from "./shell/views";
import { keepZone } from "./text/zone";

// The content security policy allows neither inline styles nor eval.
htmx.config.includeIndicatorStyles = false;
htmx.config.allowEval = false;
htmx.config.allowScriptTags = false;
// Where stored texts and figures stand, none of them is htmx's to act on, whatever a page made of it.
htmx.config.disableSelector = "[hx-disable], h1, h2, h3, tbody, dl, svg, pre, code, .meta, .quantity";
// A page in the history cache would show a running run as it was: fetch it again instead.
htmx.config.historyCacheSize = 0;
htmx.config.refreshOnHistoryMiss = true;

startTheme();
startDensity();
keepZone();
startKeys();
startActions();
startDrops();
startEntering();
keepFolds();
keepMenusInWindow();
unfoldOnPaper();
startCopying();
keepScrolled();
startSearch();
startSession();
startImports();
startViews();
startServerClock();
startClocks();
startEdges();
startParts();
tellParts();
startRows();
startTriage();
endToasts();
startRail();
htmx.onLoad((content) => {
  showTimes(content as Element);
  showEdges(content as Element);
  startLive(content as Element);
  shortenLists(content as Element);
  offerSecrets(content as Element);
  loadScripts();
});
Object.assign(window, { htmx });
