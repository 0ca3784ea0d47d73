// Files dropped anywhere on a form with `data-drops` go to its file field, not to the browser, which would open them.

/** Listen once on the document. */
export function startDrops(): void {
  for (const name of ["dragenter", "dragover"] as const) {
    document.addEventListener(name, (event) => {
      const form = formUnder(event);
      if (!form) return;
      event.preventDefault();
      form.classList.add("is-dropped-on");
    });
  }
  document.addEventListener("dragleave", (event) => {
    const form = formUnder(event);
    if (form && !form.contains(event.relatedTarget as Node | null)) form.classList.remove("is-dropped-on");
  });
  document.addEventListener("drop", (event) => {
    const form = formUnder(event);
    const field = form?.querySelector<HTMLInputElement>("input[type=file]");
    if (!form || !field || !event.dataTransfer) return;
    event.preventDefault();
    form.classList.remove("is-dropped-on");
    field.files = event.dataTransfer.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

/** Return the form that files are dragged over; a text that is dragged goes where it always does. */
function formUnder(event: DragEvent): HTMLElement | null {
  const hasFiles = event.dataTransfer?.types.includes("Files") ?? false;
  return hasFiles && event.target instanceof Element ? event.target.closest<HTMLElement>("[data-drops]") : null;
}
