// Axes that a reader may choose: latencies by their logarithm, sizes without it; kept in the address.
import { isLogarithmic } from "./axes";
import { el } from "./dom";
import type { Spec } from "./spec";
import { chosen, keep } from "./view_state";
import { say } from "../words";

/** A chart's own choice of axes. */
export interface AxisChoice {
  isLog: boolean;
  isLinearX: boolean;
}

/** The choice that the address has, else the specification's own. */
export function axisChoice(spec: Spec): AxisChoice {
  const scale = chosen(`scale.${spec.id}`);
  return { isLog: scale ? scale === "log" : isLogarithmic(spec.y), isLinearX: chosen(`sizes.${spec.id}`) === "linear" };
}

/** The specification with the axes that the reader chose. */
export function withAxes(spec: Spec, { isLog, isLinearX }: AxisChoice): Spec {
  const x = isLinearX && spec.x.scale === "log2" ? { ...spec.x, scale: "linear" as const, ticks: [] } : spec.x;
  return { ...spec, x, y: { ...spec.y, scale: isLog ? "log" : "linear" } };
}

/** Buttons among `actions` for what may be chosen, made anew for each specification that is told; `change` hears which axis was. */
export function axisSwitches(actions: HTMLElement, change: (axis: "x" | "y") => void): (spec: Spec, choice: AxisChoice) => void {
  let shown: HTMLElement[] = [];
  return (spec, choice) => {
    shown.forEach((each) => each.remove());
    shown = switches(spec, choice, change);
    actions.append(...shown);
  };
}

function switches(spec: Spec, choice: AxisChoice, change: (axis: "x" | "y") => void): HTMLElement[] {
  const buttons: HTMLElement[] = [];
  // Latencies reach over decades.
  if (spec.y.unit === "s") {
    buttons.push(pressable(say("Log scale"), choice.isLog, (isPressed) => {
      choice.isLog = isPressed;
      keep(`scale.${spec.id}`, isPressed === isLogarithmic(spec.y) ? "" : isPressed ? "log" : "linear");
      change("y");
    }));
  }
  if (spec.x.scale === "log2") {
    buttons.push(pressable(say("Linear sizes"), choice.isLinearX, (isPressed) => {
      choice.isLinearX = isPressed;
      keep(`sizes.${spec.id}`, isPressed ? "linear" : "");
      change("x");
    }));
  }
  return buttons;
}

function pressable(label: string, isPressed: boolean, press: (isPressed: boolean) => void): HTMLElement {
  const button = el("button", { type: "button", class: "btn btn-small", "aria-pressed": String(isPressed) }, label);
  button.addEventListener("click", () => {
    const isNow = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isNow));
    press(isNow);
  });
  return button;
}
