// Colours: Okabe and Ito's eight, told apart by colour-blind readers; a series keeps its own for good.

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#3f9bd1", "#5f5b00", "#1b242d"];
const DARK = ["#56b4e9", "#ff8a3d", "#2fc79a", "#e39ac4", "#e69f00", "#8fd0f5", "#f0e442", "#e4e9ee"];

/** What the canvas is drawn with; CSS doesn't reach into it. */
export interface Palette {
  series: (index: number) => string;
  text: string;
  soft: string;
  rule: string;
  ground: string;
  bad: string;
  isDark: boolean;
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
    bad: isDark() ? "#ff8571" : "#c0311d",
    isDark: isDark(),
  };
}

/** A colour with transparency, for what stands behind the line. */
export function faint(color: string, alpha: number): string {
  return `${color}${Math.round(alpha * 255).toString(16).padStart(2, "0")}`;
}

// Viridis, from its light end to its dark one: read by the colour-blind, and in print.
const VIRIDIS = [[253, 231, 37], [181, 222, 43], [110, 206, 88], [53, 183, 121], [31, 158, 137], [38, 130, 142], [49, 104, 142], [62, 74, 137], [72, 40, 120], [68, 1, 84]];

// What is nearest to the ground is left out: the least share must still be told from none.
const LEFT_OUT = 2;

/** The colour of a share from 0 to 1: from what is nearer to the ground to what stands off it most. */
export function heatColor(share: number, onDark: boolean): string {
  const fromGround = LEFT_OUT + share * (VIRIDIS.length - 1 - LEFT_OUT);
  const place = onDark ? VIRIDIS.length - 1 - fromGround : fromGround;
  const [low, high] = [VIRIDIS[Math.floor(place)] ?? [], VIRIDIS[Math.ceil(place)] ?? []];
  const mixed = low.map((value, index) => Math.round(value + ((high[index] ?? value) - value) * (place % 1)));
  return `rgb(${mixed.join(" ")})`;
}

function isDark(): boolean {
  return document.documentElement.dataset["bsTheme"] === "dark" && !matchMedia("print").matches;
}
