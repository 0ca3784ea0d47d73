"""Events and moments for tests of notifications."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from django.utils import timezone

from benchweb.notifications.events import NotificationEvent
from benchweb.notifications.models import Delivery

_numbers = count(1)


def make_event(**fields: Any) -> NotificationEvent:
    """Make an event that no other test tells."""
    values: dict[str, Any] = {
        "id": f"alert-{next(_numbers)}",
        "kind": "change",
        "transition": "open",
        "severity": "warning",
        "title": "Throughput of a → b fell by 9 %",
        "text": "From 9.4 to 8.6 Gbit/s.",
        "url": "/alerts/7",
        "at": datetime(2026, 11, 26, 2, 0, tzinfo=UTC),
    }
    return NotificationEvent(**values | fields)


def let_pass(**duration: float) -> None:
    """Let time pass for the outbox: what is due, claimed or begun is so much older."""
    by = timedelta(**duration)
    for delivery in Delivery.objects.all():
        for name in ("next_attempt_at", "claimed_until", "digest_due_at"):
            if (moment := getattr(delivery, name)) is not None:
                setattr(delivery, name, moment - by)
        delivery.save()
        for attempt in delivery.log.all():
            attempt.begun_at -= by
            attempt.save()


def clock(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let it be this time in UTC."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: moment)
