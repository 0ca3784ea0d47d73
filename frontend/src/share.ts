// What a shared page needs besides its charts: the theme, times in the reader's zone, copying and printing.
import { startActions } from "./actions";
import { startTheme } from "./theme";
import { showTimes } from "./times";

startTheme();
startActions();
showTimes(document);
