// A session that ended while somebody types: what was typed stays, a log-in opens in a new tab, and the save goes on.

import { sitePath } from "../text/site_path";
import { say } from "../text/words";

const ASK_MILLISECONDS = 2_000;

interface Session {
  user: number;
  token: string;
}

const typed = new Set<HTMLFormElement>();
const sent = new WeakSet<HTMLFormElement>();
const waiting = new Set<HTMLFormElement>();
let after: (() => void)[] = [];
let givenUp: (() => void)[] = [];

/** Look at the session before a form that was typed in is sent, and keep what would reload its page. */
export function startSession(): void {
  const own = Number(document.body.dataset["user"] ?? 0);
  if (!own) return;
  document.addEventListener("input", ({ target }) => {
    const form = target instanceof Element ? target.closest("form") : null;
    if (form && isPosted(form)) typed.add(form);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    // A script of the form's own sends it, as that of passkeys does.
    if (event.defaultPrevented) return;
    if (!typed.has(form) || form.closest("dialog") || form.matches("[hx-post]") || sent.has(form)) return;
    event.preventDefault();
    // A second click while the first is on its way is the same.
    if (waiting.has(form)) return;
    waiting.add(form);
    void send(form, event.submitter, own);
  });
  // A part of the page that finds no session any more would load the page anew.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const answer = (event as CustomEvent<{ xhr: XMLHttpRequest }>).detail.xhr;
    const isLoggedOut = answer.getResponseHeader("HX-Refresh") === "true" && new URL(answer.responseURL).pathname === sitePath("/login");
    if (!isLoggedOut || ![...typed].some((form) => form.isConnected)) return;
    event.preventDefault();
    ask(own, () => undefined);
  });
}

function isPosted(form: HTMLFormElement): boolean {
  return (form.getAttribute("method") ?? "").toLowerCase() === "post";
}

async function send(form: HTMLFormElement, button: HTMLElement | null, own: number): Promise<void> {
  const session = await found();
  const go = (): void => {
    waiting.delete(form);
    sent.add(form);
    form.requestSubmit(button);
    // The browser keeps the page where the answer is a file: it may be sent again.
    window.setTimeout(() => sent.delete(form), 0);
  };
  // Whoever logged in again by themselves has another token than this page.
  if (session?.user === own) takeToken(session.token);
  if (session === null || session?.user === own) go();
  else ask(own, go, () => waiting.delete(form));
}

/** Return the session; undefined where nobody is logged in, null where the server can't be asked. */
async function found(): Promise<Session | undefined | null> {
  try {
    const answer = await fetch(sitePath("/session"), { headers: { Accept: "application/json" }, cache: "no-store" });
    if (answer.status === 401) return undefined;
    return answer.ok ? ((await answer.json()) as Session) : null;
  } catch {
    return null;
  }
}

/** Ask to log in, in a new tab, and go on once that is done. */
function ask(own: number, go: () => void, giveUp: () => void = () => undefined): void {
  const dialog = document.querySelector<HTMLDialogElement>("#logged-out");
  if (!dialog) return go();
  after.push(go);
  givenUp.push(giveUp);
  if (dialog.open) return;
  dialog.showModal();
  const timer = window.setInterval(() => void look(), ASK_MILLISECONDS);
  window.addEventListener("focus", look);
  dialog.addEventListener("close", () => {
    window.clearInterval(timer);
    window.removeEventListener("focus", look);
    const acts = givenUp;
    after = [];
    givenUp = [];
    for (const act of acts) act();
  }, { once: true });

  async function look(): Promise<void> {
    const session = await found();
    if (!session || !dialog?.open) return;
    const note = dialog.querySelector("[data-other]");
    if (session.user !== own) {
      // What one typed is not saved in another's name.
      if (note) note.textContent = say("Somebody else is logged in now. Log in as before to save what you typed.");
      return;
    }
    takeToken(session.token);
    const acts = after;
    dialog.close();
    for (const act of acts) act();
  }
}

/** A log-in changes the token against forgery: the page's forms get the new one. */
function takeToken(token: string): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input[name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
}
