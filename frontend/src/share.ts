// What a shared page needs besides its charts: the theme, times in the reader's zone, copying and printing.
import { startActions } from "./shell/actions";
import { startTheme } from "./shell/theme";
import { showTimes } from "./text/times";

startTheme();
startActions();
showTimes(document);
