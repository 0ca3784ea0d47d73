"""Make messages of events: the payload that is stored, and what people read of it."""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from benchweb.catalog.translation import sentence_space
from benchweb.common.addresses import site_path
from benchweb.notifications.events import NotificationEvent
from benchweb.regressions.headline import headline_since
from benchweb.regressions.models import Alert
from benchweb.schedules.timing.localtime import zone_of
from benchweb.site.addresses import public_address
from benchweb.site.values import site_setting

# Of a digest: the rest is counted.
MOST_LINES = 100
MOST_TITLE = 200
# Of what digests alone tell, and no alert: the transition of such an event, and its payload's type.
SLOW = "slow"
SLOW_TYPE = "slow_change"
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
    # Of a digest: the overview's sentence, and of which time; and beside its alerts what changes slowly.
    summary: str = ""
    slow_heading: str = ""
    slow_lines: Sequence[MessageLine] = ()
    slow_left_out: int = 0

    @property
    def text(self) -> str:
        """All of it as plain text."""
        parts = [self.summary]
        parts += [_told(replace(line, title=_heading(self, line))) for line in self.lines]
        if self.left_out:
            parts.append(f"… and {self.left_out} more")
        parts += [self.slow_heading, *map(_told, self.slow_lines)]
        if self.slow_left_out:
            parts.append(f"… and {self.slow_left_out} more")
        return "\n\n".join(filter(None, parts))


def message_id() -> str:
    """Make an id that no other message has."""
    return f"msg_{secrets.token_hex(16)}"


def event_payload(event: NotificationEvent) -> dict[str, Any]:
    """Return what is stored and posted for one event, as Standard Webhooks shapes it."""
    data = event.document | {"url": public_address(site_path(event.url))}
    name = SLOW_TYPE if event.transition == SLOW else f"alert.{event.transition}"
    return {"type": name, "timestamp": data["at"], "data": data}


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
    events = [payload["data"] for payload in payloads if payload["type"] != SLOW_TYPE]
    slow = [payload["data"] for payload in payloads if payload["type"] == SLOW_TYPE]
    data = {
        "title": _digest_title(events, slow),
        "summary": _digest_summary(at, time_zone),
        "time_zone": time_zone,
        "events": events,
        "slow_changes": slow,
        "thread": f"digest-{rule_id}" if rule_id else "",
    }
    return {"type": "alert.digest", "timestamp": at.astimezone(UTC).isoformat(), "data": data}


def message(identifier: str, payload: dict[str, Any]) -> Message:
    """Return a stored payload as people read it."""
    data = payload["data"]
    events = data.get("events", [data])
    slow = data.get("slow_changes", [])
    severities = [Alert.Severity(event["severity"]) for event in (*events, *slow)]
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
        slow_heading=_slow_heading() if slow else "",
        slow_lines=[_line(event) for event in slow[:MOST_LINES]],
        slow_left_out=max(0, len(slow) - MOST_LINES),
    )


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters, for a subject."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _line(event: dict[str, Any]) -> MessageLine:
    return MessageLine(one_line(event["title"]), event["text"], event["url"], event["severity"])


def _heading(message: Message, line: MessageLine) -> str:
    # The title of a message of one event is its subject already.
    return line.title if len(message.lines) > 1 or message.slow_lines else ""


def _told(line: MessageLine) -> str:
    return "\n".join(filter(None, (line.title, line.text, line.url)))


def _slow_heading() -> str:
    with translation.override(site_setting("DEFAULT_LANGUAGE")):
        return _("Slowly changing")


def _digest_summary(at: datetime, time_zone: str) -> str:
    """Return the overview's sentence in the installation's language, and whose clocks say until when."""
    with translation.override(site_setting("DEFAULT_LANGUAGE")):
        until = at.astimezone(zone_of(time_zone)).strftime("%Y-%m-%d %H:%M")
        span = _("All of it is of the 24 hours until {at} in {zone}.").format(at=until, zone=time_zone)
        return f"{headline_since(at - _DAY).sentence}{sentence_space()}{span}"


def _digest_title(events: Sequence[dict[str, Any]], slow: Sequence[dict[str, Any]]) -> str:
    """Name what a digest tells: its alerts first, and how many slow changes beside them."""
    if not slow:
        return _alerts_title(events)
    changes = f"{len(slow)} slow change{'s' if len(slow) > 1 else ''}"
    if events:
        return f"{_alerts_title(events)}; {changes}"
    return f"{_slow_heading()}: {slow[0]['title']}" if len(slow) == 1 else changes


def _alerts_title(events: Sequence[dict[str, Any]]) -> str:
    if len(events) == 1:
        return str(events[0]["title"])
    counts = Counter(event["severity"] for event in events)
    counted = ", ".join(
        f"{counts[severity]} {severity.value}" for severity in list(Alert.Severity)[::-1] if counts[severity]
    )
    return f"{len(events)} alerts: {counted}"
