// What scrolls in itself fades at the edge where there is more: a table that ends at a whole column looks like all there is.

const SIDEWAYS = ".table-scroll";
const DOWNWARDS = ".share-list, .suggestions, .plan-aside, .choice-list, .long-choice";
const SCROLLING = `${SIDEWAYS}, ${DOWNWARDS}`;
// A share of a pixel is no more to see.
const LEAST = 2;

/** Which edges have more beyond them: "", the name of the first, of the last, or both. */
export function edges(scrolled: number, shown: number, whole: number, [first, last] = ["left", "right"]): string {
  return [scrolled > LEAST && first, whole - shown - scrolled > LEAST && last].filter(Boolean).join(" ");
}

function mark(element: Element): void {
  // A long table to choose from is both, and goes down.
  const found = element.matches(DOWNWARDS)
    ? edges(element.scrollTop, element.clientHeight, element.scrollHeight, ["up", "down"])
    : edges(element.scrollLeft, element.clientWidth, element.scrollWidth);
  if (element.getAttribute("data-more") !== found) element.setAttribute("data-more", found);
  if (element.matches(SIDEWAYS)) makeReachable(element, found !== "");
}

/** Let the keyboard reach a table that scrolls, by the name of its heading; one that fits is no stop. */
function makeReachable(element: Element, scrolls: boolean): void {
  if (!scrolls) {
    if (!element.hasAttribute("data-reachable")) return;
    for (const name of ["data-reachable", "tabindex", "role", "aria-label"]) element.removeAttribute(name);
    return;
  }
  if (element.hasAttribute("tabindex")) return;
  const heading = element.closest("section, main")?.querySelector("h1, h2")?.textContent.trim();
  const reachable = { "data-reachable": "", tabindex: "0", ...(heading ? { role: "region", "aria-label": heading } : {}) };
  for (const [name, value] of Object.entries(reachable)) element.setAttribute(name, value);
}

const sizes = new ResizeObserver((changed) => {
  for (const { target } of changed) mark(target.matches(SCROLLING) ? target : (target.parentElement ?? target));
});

/** Watch the whole page: what is scrolled anywhere tells of it. */
export function startEdges(): void {
  document.addEventListener("scroll", ({ target }) => {
    if (target instanceof Element && target.matches(SCROLLING)) mark(target);
  }, { capture: true, passive: true });
}

/** Mark the edges of a new part of the page, and whenever their size changes. */
export function showEdges(content: Element): void {
  const around = content.closest(SCROLLING);
  for (const each of [...(around ? [around] : []), ...content.querySelectorAll(SCROLLING)]) {
    sizes.observe(each);
    if (each.firstElementChild) sizes.observe(each.firstElementChild);
    mark(each);
  }
}
