/**
 * Put a text on the clipboard; false where the browser refuses in both ways: it stands there selected, for Ctrl+C.
 *
 * By plain HTTP, on another machine than this one, there is no clipboard, and elsewhere it may be forbidden: the old
 * way still works there. `beside` has the focus, within the same dialog.
 */
export async function writeToClipboard(beside: HTMLElement, text: string): Promise<boolean> {
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
  beside.after(place);
  place.select();
  const isCopied = document.execCommand("copy");
  if (isCopied) {
    place.remove();
    beside.focus();
  } else {
    place.addEventListener("blur", () => place.remove());
  }
  return isCopied;
}
