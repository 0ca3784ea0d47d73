// Colours: Okabe and Ito's eight, told apart by colour-blind readers; a series keeps its own for good.

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#3f9bd1", "#8a8300", "#1b242d"];
const DARK = ["#56b4e9", "#ff8a3d", "#2fc79a", "#e39ac4", "#e69f00", "#8fd0f5", "#f0e442", "#e4e9ee"];

/** What the canvas is drawn with; CSS doesn't reach into it. */
export interface Palette {
  series: (index: number) => string;
  text: string;
  soft: string;
  rule: string;
  ground: string;
}

/** The colours of the theme in use. */
export function palette(): Palette {
  const colors = isDark() ? DARK : LIGHT;
  return {
    series: (index) => colors[((index % colors.length) + colors.length) % colors.length] ?? "#888",
    text: isDark() ? "#e4e9ee" : "#1b242d",
    soft: isDark() ? "#9eabb8" : "#566370",
    rule: isDark() ? "#313a44" : "#e3e8ed",
    ground: isDark() ? "#14181d" : "#ffffff",
  };
}

/** A colour with transparency, for what stands behind the line. */
export function faint(color: string, alpha: number): string {
  return `${color}${Math.round(alpha * 255).toString(16).padStart(2, "0")}`;
}

function isDark(): boolean {
  return document.documentElement.dataset["bsTheme"] === "dark" && !matchMedia("print").matches;
}
