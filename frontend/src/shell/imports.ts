// Import several files one by one, each by a request of its own, and tell how far it is and what became of each.
import { say } from "../text/words";

// A file is read within some seconds, behind others at most.
const PATIENCE_MILLISECONDS = 90_000;

interface Outcome {
  run: number | null;
  said: string;
}

/** Listen once on the document, behind what looks at the session first and sends the form again. */
export function startImports(): void {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.dataset["imports"] === undefined) return;
    const parts = partsOf(form);
    if (parts.length < 2) return;
    event.preventDefault();
    void importAll(form, parts);
  });
}

/** Return what each request sends: one file, or the pasted text, with all other fields. */
function partsOf(form: HTMLFormElement): FormData[] {
  const whole = new FormData(form);
  const files = whole.getAll("uploads").filter((file) => file instanceof File && file.name !== "");
  const text = whole.get("text");
  const parts = files.map((file) => partOf(form, "uploads", file));
  return typeof text === "string" && text !== "" ? [...parts, partOf(form, "text", text)] : parts;
}

function partOf(form: HTMLFormElement, name: string, value: FormDataEntryValue): FormData {
  const part = new FormData(form);
  part.delete("uploads");
  part.delete("text");
  part.append(name, value);
  return part;
}

async function importAll(form: HTMLFormElement, parts: readonly FormData[]): Promise<void> {
  const place = progressBelow(form);
  const outcomes: Outcome[] = [];
  const buttons = form.querySelectorAll<HTMLButtonElement>("button");
  for (const button of buttons) button.disabled = true;
  for (const part of parts) {
    place.show(outcomes.length, parts.length);
    const outcome = await importOne(form, part);
    // The page itself says what is wrong with the form; of a later file that it wasn't imported, and the others go on.
    if (!outcome && outcomes.length === 0) return form.submit();
    outcomes.push(outcome ?? { run: null, said: `${nameOf(part)}: ${say("The server did not answer: load the page again to see what was done.")}` });
    place.tell(outcomes[outcomes.length - 1] as Outcome);
  }
  place.show(outcomes.length, parts.length);
  for (const button of buttons) button.disabled = false;
  const runs = outcomes.flatMap(({ run }) => (run === null ? [] : [run]));
  if (runs.length) place.lead(`${form.action}?runs=${runs.join(",")}`, runs.length === parts.length);
}

/** Return what became of one file; null where the form is at fault, nobody is logged in any more, or no answer came. */
async function importOne(form: HTMLFormElement, part: FormData): Promise<Outcome | null> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    const answer = await fetch(form.action, { method: "POST", body: part, headers: { Accept: "application/json" }, signal });
    return answer.status === 201 || answer.status === 422 ? ((await answer.json()) as Outcome) : null;
  } catch {
    return null;
  }
}

function nameOf(part: FormData): string {
  const file = part.get("uploads");
  return file instanceof File ? file.name : say("The pasted text");
}

interface Progress {
  show(done: number, total: number): void;
  tell(outcome: Outcome): void;
  lead(address: string, atOnce: boolean): void;
}

function progressBelow(form: HTMLFormElement): Progress {
  form.parentElement?.querySelector(".import-progress")?.remove();
  const section = document.createElement("section");
  const words = document.createElement("p");
  const bar = document.createElement("progress");
  const list = document.createElement("ul");
  section.className = "section import-progress";
  words.setAttribute("role", "status");
  section.append(words, bar, list);
  form.after(section);
  return {
    show(done, total) {
      words.textContent = say("{done} of {total} files imported", { done, total });
      bar.setAttribute("aria-label", words.textContent);
      bar.max = total;
      bar.value = done;
    },
    tell({ said }) {
      list.append(Object.assign(document.createElement("li"), { textContent: said }));
    },
    lead(address, atOnce) {
      if (atOnce) return location.assign(address);
      section.append(Object.assign(document.createElement("a"), { className: "btn", href: address, textContent: say("Show the imported runs") }));
    },
  };
}
