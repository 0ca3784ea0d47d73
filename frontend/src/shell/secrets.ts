// Make a secret where the reader is to give one to both sides: random, seen once, and copied from the field.
import { say } from "../text/words";

const BYTES = 32;

/** Put a button behind each field that `data-generates` names a prefix of. */
export function offerSecrets(root: Element): void {
  for (const field of root.querySelectorAll<HTMLInputElement>("input[data-generates]:not([data-offered])")) {
    field.dataset["offered"] = "yes";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-small";
    button.textContent = say("Generate");
    button.addEventListener("click", () => fill(field));
    field.after(button);
  }
}

function fill(field: HTMLInputElement): void {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  field.value = (field.dataset["generates"] ?? "") + btoa(String.fromCharCode(...bytes));
  // Never shown again once it is saved: now is the time to copy it.
  field.type = "text";
  field.select();
}
