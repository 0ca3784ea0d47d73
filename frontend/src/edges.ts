// What scrolls sideways fades at the edge where there is more: a table that ends at a whole column looks like all there is.

const SCROLLING = ".sections, .table-scroll";
// A share of a pixel is no more to see.
const LEAST = 2;

/** Which edges have more beyond them: "", "left", "right", or both. */
export function edges(scrolled: number, shown: number, whole: number): string {
  return [scrolled > LEAST && "left", whole - shown - scrolled > LEAST && "right"].filter(Boolean).join(" ");
}

function mark(element: Element): void {
  const found = edges(element.scrollLeft, element.clientWidth, element.scrollWidth);
  if (element.getAttribute("data-more") !== found) element.setAttribute("data-more", found);
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
  for (const each of [content, ...content.querySelectorAll(SCROLLING)]) {
    if (!each.matches(SCROLLING)) continue;
    sizes.observe(each);
    if (each.firstElementChild) sizes.observe(each.firstElementChild);
    mark(each);
  }
}
