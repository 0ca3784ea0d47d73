"""Open and end alerts of absence: one for a stretch in which something is missing."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from benchweb.regressions import transitions
from benchweb.regressions.models import LIVE_STATES, Alert
from benchweb.results.nightly_summaries import night_of

# At the first start nobody wants to hear of what has been missing for longer.
LOOK_BACK_DAYS = 2
# Of a reason that an alert tells.
MOST_REASON = 500


def open_once(*, code: str, key: str, begun_at: datetime, **fields: Any) -> Alert | None:
    """Open an alert of absence; None where there is or was one of the same key already."""
    segment_key = f"{code}:{key}"
    if Alert.objects.filter(segment_key=segment_key).exists():
        return None
    return transitions.begin(
        Alert(
            kind=Alert.Kind.ABSENCE,
            state=Alert.State.OPEN,
            code=code,
            begun_at=begun_at,
            night=night_of(begun_at),
            segment_key=segment_key,
            **fields,
        )
    )


def end_where(alerts: Iterable[Alert], is_over: Callable[[Alert], bool]) -> None:
    """Let the live alerts recover of which that is true; told once."""
    for alert in alerts:
        if is_over(alert):
            transitions.move(alert.pk, Alert.State.RECOVERED)


def live_alerts(code: str) -> list[Alert]:
    """Return the live alerts of a code."""
    alerts = Alert.objects.filter(kind=Alert.Kind.ABSENCE, code=code, state__in=LIVE_STATES)
    return list(alerts.select_related("schedule", "endpoint").order_by("pk"))
