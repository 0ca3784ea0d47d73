// The menu of saved views: fetched when it is opened, so that no page pays for it; it saves the address as it is now.
import htmx from "htmx.org";

/** Fill the menu each time it opens: filters and zoom may have changed the address since. */
export function startViews(): void {
  const menu = document.querySelector<HTMLDetailsElement>("details[data-views]");
  menu?.addEventListener("toggle", () => {
    if (!menu.open) return;
    const path = encodeURIComponent(location.pathname + location.search);
    void htmx.ajax("get", `${menu.dataset["views"] ?? ""}?path=${path}`, { target: "#views-menu", swap: "innerHTML" });
  });
}
