// A list of hundreds is no choice: a field to type in stands for a long select, and filters a long list of ticks.
import { say } from "../text/words";

const LONG = 60;
let made = 0;

/** A list that scrolls in itself stays where it was when an answer takes its place. */
export function keepScrolled(): void {
  let top = 0;
  document.addEventListener("htmx:beforeSwap", () => {
    // What is typed into a filter makes another list, read from its beginning.
    const isFiltering = document.activeElement?.getAttribute("type") === "search";
    top = isFiltering ? 0 : document.querySelector(".long-choice")?.scrollTop ?? 0;
  });
  document.addEventListener("htmx:afterSwap", () => {
    const list = document.querySelector(".long-choice");
    if (list && top) list.scrollTop = top;
  });
}

/** Whoever has no script has the lists themselves, which hold the form's values in any case. */
export function shortenLists(content: ParentNode): void {
  for (const select of content.querySelectorAll<HTMLSelectElement>("select:not([multiple], [hidden])")) {
    // An empty field means what the first option means: nothing chosen.
    if (select.options.length > LONG && select.options[0]?.value === "") standIn(select);
  }
  // Of pairs the server finds those that match.
  for (const list of content.querySelectorAll<HTMLElement>(".choice-list:not(#schedule-pairs, [data-is-shortened])")) {
    if (list.children.length > LONG) filterAbove(list);
  }
}

/** Find the option that a text means: its whole label, else the only one that has the text in it; -1 for neither. */
export function meant(text: string, labels: readonly string[]): number {
  const asked = folded(text);
  if (!asked) return 0;
  const all = labels.map(folded);
  const whole = all.indexOf(asked);
  if (whole >= 0) return whole;
  const first = all.findIndex((label) => label.includes(asked));
  return first === all.findLastIndex((label) => label.includes(asked)) ? first : -1;
}

/** As the server compares names: whatever case and form of Unicode they are typed in. */
function folded(text: string): string {
  return text.normalize("NFKC").trim().toLowerCase();
}

function standIn(select: HTMLSelectElement): void {
  const options = [...select.options];
  const list = document.createElement("datalist");
  list.id = `long-list-${(made += 1)}`;
  list.append(...options.slice(1).map((option) => new Option("", option.label)));
  // A label around the select has the options' texts in it too.
  const named = [...(select.labels[0]?.childNodes ?? [])].filter((node) => node !== select);
  const label = named.map((node) => node.textContent ?? "").join("").trim();
  const field = searchField(options[0]?.label ?? "", label);
  field.setAttribute("list", list.id);
  for (const name of ["aria-describedby", "aria-invalid"]) {
    const value = select.getAttribute(name);
    if (value) field.setAttribute(name, value);
  }
  field.id = select.id || `${list.id}-field`;
  select.removeAttribute("id");
  field.value = select.value ? (select.selectedOptions[0]?.label ?? "") : "";
  select.hidden = true;
  select.after(field, list);
  field.addEventListener("input", (event) => {
    // The form is told when a choice is made, not at each letter of it.
    event.stopPropagation();
    field.setCustomValidity("");
    if (options.some((option) => option.label === field.value)) choose(select, field, options);
  });
  field.addEventListener("change", (event) => {
    event.stopPropagation();
    choose(select, field, options);
  });
}

function choose(select: HTMLSelectElement, field: HTMLInputElement, options: HTMLOptionElement[]): void {
  const option = options[meant(field.value, options.map((each) => each.label))];
  if (!option) {
    field.setCustomValidity(say("Choose one from the list."));
    field.reportValidity();
    return;
  }
  field.value = option.value ? option.label : "";
  if (select.value === option.value) return;
  select.value = option.value;
  for (const type of ["input", "change"]) select.dispatchEvent(new Event(type, { bubbles: true }));
}

function filterAbove(list: HTMLElement): void {
  list.dataset["isShortened"] = "";
  const field = searchField(say("Filter"), say("Filter"));
  list.before(field);
  field.addEventListener("input", (event) => {
    event.stopPropagation();
    const asked = folded(field.value);
    for (const row of list.children) (row as HTMLElement).hidden = !folded(row.textContent).includes(asked);
  });
  // Enter would send the form.
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}

function searchField(placeholder: string, label: string): HTMLInputElement {
  const field = document.createElement("input");
  Object.assign(field, { type: "search", className: "form-control", placeholder, autocomplete: "off" });
  field.setAttribute("aria-label", label || placeholder);
  return field;
}
