import { say } from "./words";

const SHOWN_MILLISECONDS = 1500;

/** Copy a text, and say so for a moment on the button or link that was pressed. */
export async function copyText(pressed: HTMLElement, text: string, done = say("Copied")): Promise<void> {
  if (pressed.dataset["label"]) return;
  const label = pressed.textContent;
  pressed.dataset["label"] = label;
  pressed.textContent = (await writeToClipboard(pressed, text)) ? done : say("Press Ctrl+C");
  window.setTimeout(() => {
    pressed.textContent = label;
    delete pressed.dataset["label"];
  }, SHOWN_MILLISECONDS);
}

/**
 * Return false where the browser refuses in both ways: the text stands there selected, for Ctrl+C.
 *
 * By plain HTTP, on another machine than this one, there is no clipboard, and elsewhere it may be forbidden: the old
 * way still works there.
 */
async function writeToClipboard(pressed: HTMLElement, text: string): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Forbidden to this page.
    }
  }
  const place = document.createElement("textarea");
  place.value = text;
  // Inside a dialog nothing outside of it can be focused.
  pressed.after(place);
  place.select();
  const isCopied = document.execCommand("copy");
  if (isCopied) {
    place.remove();
    pressed.focus();
  } else {
    place.addEventListener("blur", () => place.remove());
  }
  return isCopied;
}
