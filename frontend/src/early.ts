// Loaded before the first paint, so that neither a kept theme nor a narrow navigation flashes.
import { applyDensity } from "./shell/density";
import { applyRail } from "./shell/rail";
import { applyTheme } from "./shell/theme";

applyTheme();
applyDensity();
applyRail();
