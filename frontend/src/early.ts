// Loaded before the first paint, so that a kept theme doesn't flash.
import { applyTheme } from "./shell/theme";

applyTheme();
