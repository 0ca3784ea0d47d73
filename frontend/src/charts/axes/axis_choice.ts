// Axes that a reader may choose: latencies by their logarithm, differences too, sizes without it; kept in the address.
import { isLogarithmic } from "./axes";
import { el } from "../dom";
import type { Scale, Spec } from "../spec";
import { drawnValues } from "./value_range";
import { chosen, keep } from "../view/view_state";
import { say } from "../../text/words";

const Y_SCALES: readonly Scale[] = ["linear", "log", "symlog"];

/** A chart's own choice of axes. */
export interface AxisChoice {
  y: Scale;
  isLinearX: boolean;
}

/** The choice that the address has, else the specification's own. */
export function axisChoice(spec: Spec): AxisChoice {
  const scale = chosen(`scale.${spec.id}`);
  return { y: Y_SCALES.find((each) => each === scale) ?? spec.y.scale, isLinearX: chosen(`sizes.${spec.id}`) === "linear" };
}

/** The specification with the axes that the reader chose. */
export function withAxes(spec: Spec, { y, isLinearX }: AxisChoice): Spec {
  const x = isLinearX && spec.x.scale === "log2" ? { ...spec.x, scale: "linear" as const, ticks: [] } : spec.x;
  return { ...spec, x, y: { ...spec.y, scale: y } };
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
  const scales: HTMLElement[] = [];
  const scaleButton = (label: string, scale: Scale): HTMLElement => {
    const button = pressable(label, choice.y === scale, (isPressed) => {
      choice.y = isPressed ? scale : "linear";
      keep(`scale.${spec.id}`, choice.y === spec.y.scale ? "" : choice.y);
      // Of two scales one is pressed at most.
      for (const other of scales) if (other !== button) other.setAttribute("aria-pressed", "false");
      change("y");
    });
    scales.push(button);
    return button;
  };
  // Latencies reach over decades.
  if (spec.y.unit === "s") {
    buttons.push(scaleButton(say("Log scale"), "log"));
  }
  if (offersSymlog(spec) || choice.y === "symlog") buttons.push(scaleButton(say("Symlog scale"), "symlog"));
  if (spec.x.scale === "log2") {
    buttons.push(pressable(say("Linear sizes"), choice.isLinearX, (isPressed) => {
      choice.isLinearX = isPressed;
      keep(`sizes.${spec.id}`, isPressed ? "linear" : "");
      change("x");
    }));
  }
  return buttons;
}

/** Whether a logarithm on both sides of zero is offered: for differences, and where a log axis would leave out zeros. */
export function offersSymlog(spec: Spec): boolean {
  if (spec.heat) return false;
  const hasLog = spec.y.unit === "s" || isLogarithmic(spec.y);
  return drawnValues(spec).some((each) => each < 0 || (each === 0 && hasLog));
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
