// What can be undone says so for ten seconds, and longer while the reader is on it.

const SHOWN_MILLISECONDS = 10_000;
const AGAIN_MILLISECONDS = 1000;

/** Take the toasts of the page away in time. */
export function endToasts(): void {
  for (const toast of document.querySelectorAll(".toast")) window.setTimeout(() => end(toast), SHOWN_MILLISECONDS);
}

function end(toast: Element): void {
  if (toast.matches(":hover, :focus-within")) window.setTimeout(() => end(toast), AGAIN_MILLISECONDS);
  else toast.remove();
}
