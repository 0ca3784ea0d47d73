import assert from "node:assert/strict";
import { test } from "node:test";

import { namedShares, shareColor } from "../../../src/charts/heat/heat_scale";
import type { Palette } from "../../../src/charts/theme";

test("a heat map's legend names powers of ten that can be told from the largest share, and that", () => {
  assert.deepEqual(namedShares(0.43), [0.001, 0.01, 0.1, 0.43]);
  assert.deepEqual(namedShares(0.12), [0.001, 0.01, 0.12]);
  assert.deepEqual(namedShares(0), []);
});

test("the least share stands off the ground in both themes, the largest most", () => {
  const contrast = (share: number, isDark: boolean): number => {
    const [cell, ground] = [luminance(shareColor(share, 1, { isDark } as Palette)), luminance(isDark ? "rgb(20 24 29)" : "rgb(255 255 255)")];
    return (Math.max(cell, ground) + 0.05) / (Math.min(cell, ground) + 0.05);
  };
  for (const isDark of [false, true]) {
    assert.ok(contrast(1e-9, isDark) > 1.8, `${contrast(1e-9, isDark)}`);
    assert.ok(contrast(1, isDark) > 12, `${contrast(1, isDark)}`);
  }
});

/** The luminance by which contrast is told (WCAG 2). */
function luminance(rgb: string): number {
  const [red = 0, green = 0, blue = 0] = (rgb.match(/\d+/g) ?? []).map((each) => {
    const part = Number(each) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
