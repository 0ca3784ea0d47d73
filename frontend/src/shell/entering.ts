// Enter in a field of its own presses the button beside it; elsewhere in the form, on ticks above all, the form's first.

export function startEntering(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !(event.target instanceof HTMLInputElement)) return;
    const button = event.target.closest("[data-enter]")?.querySelector("button");
    if (!button) return;
    event.preventDefault();
    button.click();
  });
}
