// Times in the reader's zone: relative within a day, absolute with UTC on hover.

import { serverNow } from "./clock";
import { say } from "./words";
import { chosenZone, wall } from "./zone";

const DAY_SECONDS = 86_400;
// What is rounded to 60 min is an hour.
const HOUR_FROM_SECONDS = 3570;
const REFRESH_MILLISECONDS = 30_000;

/** Say how long ago `then` was, or the date when it is over a day away. */
export function relative(then: Date, now: Date): string {
  const seconds = Math.round((now.getTime() - then.getTime()) / 1000);
  if (Math.abs(seconds) >= DAY_SECONDS) return absolute(then);
  return seconds >= 0 ? past(seconds) : future(-seconds);
}

function past(seconds: number): string {
  if (seconds < 5) return say("just now");
  if (seconds < 60) return say("{number} s ago", { number: seconds });
  if (seconds < HOUR_FROM_SECONDS) return say("{number} min ago", { number: Math.round(seconds / 60) });
  return say("{number} h ago", { number: Math.round(seconds / 3600) });
}

function future(seconds: number): string {
  if (seconds < 5) return say("just now");
  if (seconds < 60) return say("in {number} s", { number: seconds });
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return say("in {number} min", { number: minutes });
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return rest ? say("in {hours} h {minutes} min", { hours, minutes: rest }) : say("in {number} h", { number: hours });
}

/** Name the reader's zone where a time is read by people of any zone: on what was shared. */
function zoneIfShared(then: Date): string {
  return document.body.classList.contains("shared") ? ` ${zone(then)}` : "";
}

function zone(then: Date): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone: chosenZone(), timeZoneName: "shortOffset" }).formatToParts(then);
  return (parts.find(({ type }) => type === "timeZoneName")?.value ?? "").replace("GMT", "UTC").replace(/^UTC[+-]0$/, "UTC");
}

/** Name the reader's zone with what it is ahead of UTC now. */
function zoneName(): string {
  const [name, offset] = [chosenZone() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone, zone(new Date())];
  return name === "UTC" || name === offset ? offset : `${name} (${offset})`;
}

function absolute(then: Date): string {
  return wall(then).toISOString().slice(0, 16).replace("T", " ");
}

export function toTheSecond(then: Date): string {
  return wall(then).toISOString().slice(0, 19).replace("T", " ");
}

/** Say a time that follows another: the day only when it is a later one. */
function after(then: Date, begin: Date): string {
  const words = toTheSecond(then);
  return absolute(begin).slice(0, 10) === words.slice(0, 10) ? words.slice(11) : words;
}

/** A time as its element asks for it. */
function said(element: HTMLTimeElement): string {
  const [then, begin] = [new Date(element.dateTime), new Date(element.dataset["begin"] ?? "")];
  switch (element.dataset["form"]) {
    case "absolute": return toTheSecond(then) + zoneIfShared(then);
    case "begin": return toTheSecond(then);
    case "minute": return absolute(then);
    // The zone stands for both.
    case "end": return `${after(then, begin)} ${zone(then)}`;
    case "clock": return after(then, begin);
    default: return relative(then, new Date(serverNow()));
  }
}

/** Say a time in the reader's zone and in UTC. */
export function inBothZones(then: Date): string {
  return `${toTheSecond(then)} · ${then.toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

/** Rewrite every `<time>` under `root`, and the zone they are in; the server wrote UTC for readers without script. */
export function showTimes(root: Element | Document): void {
  for (const element of root.querySelectorAll("[data-zone]")) element.textContent = zoneName();
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    element.textContent = said(element);
    element.title = inBothZones(new Date(element.dateTime));
  }
}

/** Count down what `data-until` names, between one answer of the server and the next. */
function showTimeLeft(): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-until]")) {
    const seconds = Math.round((Date.parse(element.dataset["until"] ?? "") - serverNow()) / 1000);
    element.textContent = seconds > 0 ? say("about {length} left", { length: left(seconds) }) : say("finishing");
  }
}

function left(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Keep the times right while the page stays open. */
export function startClocks(): void {
  window.setInterval(() => showTimes(document), REFRESH_MILLISECONDS);
  window.setInterval(showTimeLeft, 1000);
}
