"""Make messages of events: the payload that is stored, and what people read of it."""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urljoin

from django.utils import translation
from django.utils.translation import gettext as _

from benchweb.catalog.translation import sentence_space
from benchweb.notifications.events import NotificationEvent
from benchweb.regressions.headline import headline_since
from benchweb.regressions.models import Alert
from benchweb.schedules.timing.localtime import zone_of
from benchweb.site.values import site_setting

# Of a digest: the rest is counted.
MOST_LINES = 100
MOST_TITLE = 200
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class MessageLine:
    """One event as a mail shows it."""

    title: str
    text: str
    url: str
    severity: str


@dataclass(frozen=True)
class Message:
    """A message as a sender sends it: `id` is stable, `payload` is what a webhook posts."""

    id: str
    payload: dict[str, Any]
    title: str
    lines: list[MessageLine]
    # Events that are counted only.
    left_out: int
    severity: str
    # What it belongs to, as Event has it; nothing for what stands alone.
    thread: str
    # Of a digest: the overview's sentence, and of which time.
    summary: str = ""

    @property
    def text(self) -> str:
        """All of it as plain text."""
        parts = [self.summary]
        parts += ["\n".join(filter(None, (_heading(self, line), line.text, line.url))) for line in self.lines]
        if self.left_out:
            parts.append(f"… and {self.left_out} more")
        return "\n\n".join(filter(None, parts))


def message_id() -> str:
    """Make an id that no other message has."""
    return f"msg_{secrets.token_hex(16)}"


def event_payload(event: NotificationEvent) -> dict[str, Any]:
    """Return what is stored and posted for one event, as Standard Webhooks shapes it."""
    data = event.document | {"url": absolute_url(event.url)}
    return {"type": f"alert.{event.transition}", "timestamp": data["at"], "data": data}


def with_joined(payload: dict[str, Any], joined: dict[str, Any]) -> dict[str, Any]:
    """Return a payload that nobody has sent yet with what another one says of the same alert since."""
    data, later = payload["data"], joined["data"]
    known = data["text"].splitlines()
    lines = known + [line for line in later["text"].splitlines() if line not in known]
    severity = max((Alert.Severity(each["severity"]) for each in (data, later)), key=lambda severity: severity.rank)
    # Its title names all of the alert.
    return payload | {"data": data | {"text": "\n".join(lines), "title": later["title"], "severity": severity.value}}


def digest_payload(
    payloads: Sequence[dict[str, Any]], at: datetime, rule_id: int | None, *, time_zone: str = "UTC"
) -> dict[str, Any]:
    """Return one payload for many; the digests of a rule are one thread. It begins as the overview does, and says when.

    Four queries.
    """
    events = [payload["data"] for payload in payloads]
    data = {
        "title": _digest_title(events),
        "summary": _digest_summary(at, time_zone),
        "time_zone": time_zone,
        "events": events,
        "thread": f"digest-{rule_id}" if rule_id else "",
    }
    return {"type": "alert.digest", "timestamp": at.astimezone(UTC).isoformat(), "data": data}


def message(identifier: str, payload: dict[str, Any]) -> Message:
    """Return a stored payload as people read it."""
    data = payload["data"]
    events = data.get("events", [data])
    severities = [Alert.Severity(event["severity"]) for event in events]
    return Message(
        id=identifier,
        payload=payload,
        title=one_line(data["title"])[:MOST_TITLE],
        lines=[_line(event) for event in events[:MOST_LINES]],
        left_out=max(0, len(events) - MOST_LINES),
        severity=max(severities, key=lambda severity: severity.rank),
        # What an older version wrote has none.
        thread=data.get("thread", ""),
        summary=data.get("summary", ""),
    )


def absolute_url(url: str) -> str:
    """Return an address that can be opened from anywhere, where it is known at what address these pages are."""
    public_url = site_setting("PUBLIC_URL")
    return urljoin(public_url, url) if public_url else url


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters, for a subject."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _line(event: dict[str, Any]) -> MessageLine:
    return MessageLine(one_line(event["title"]), event["text"], event["url"], event["severity"])


def _heading(message: Message, line: MessageLine) -> str:
    # The title of a message of one event is its subject already.
    return line.title if len(message.lines) > 1 else ""


def _digest_summary(at: datetime, time_zone: str) -> str:
    """Return the overview's sentence in the installation's language, and whose clocks say until when."""
    with translation.override(site_setting("DEFAULT_LANGUAGE")):
        until = at.astimezone(zone_of(time_zone)).strftime("%Y-%m-%d %H:%M")
        span = _("All of it is of the 24 hours until {at} in {zone}.").format(at=until, zone=time_zone)
        return f"{headline_since(at - _DAY).sentence}{sentence_space()}{span}"


def _digest_title(events: Sequence[dict[str, Any]]) -> str:
    if len(events) == 1:
        return str(events[0]["title"])
    counts = Counter(event["severity"] for event in events)
    counted = ", ".join(
        f"{counts[severity]} {severity.value}" for severity in list(Alert.Severity)[::-1] if counts[severity]
    )
    return f"{len(events)} alerts: {counted}"
