"""Offer what people can do with alerts, and say what became of it."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from benchweb.regressions.alert_texts import alert_title, transition_text
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.selectors import alerts

# Of users to assign to, and of alerts to merge into, the worst.
_MOST_USERS = 500
_MOST_ALERTS = 50
# Hours, or until it gets worse.
UNTIL_WORSE = "worse"
SNOOZES = ("24", "168", "720", UNTIL_WORSE)


@dataclass(frozen=True)
class HistoryRow:
    """A row of an alert's history with what happened in words."""

    row: AlertTransition
    text: str


def form_choices(user: User) -> dict[str, Any]:
    """Return the choices of snoozes and users, the reader first."""
    others = User.objects.filter(is_active=True).exclude(pk=user.pk).order_by("username")
    names = [(name, name) for name in others.values_list("username", flat=True)[:_MOST_USERS]]
    words = (_("for a day"), _("for a week"), _("for 30 days"), _("until it gets worse"))
    return {
        "snoozes": list(zip(SNOOZES, words, strict=True)),
        "assignees": [(user.get_username(), _("me")), *names, ("", _("nobody"))],
    }


def mergeable(alert: Alert) -> list[tuple[str, str]]:
    """Return the alerts that an alert can be merged into, the worst first."""
    fit = (Alert.State.OPEN, Alert.State.ACKNOWLEDGED)
    if alert.state not in fit:
        return []
    others = alerts().filter(kind=alert.kind, state__in=fit).exclude(pk=alert.pk).order_by("-rank", "-pk")
    return [(str(other.pk), f"{other.pk}: {alert_title(other)}") for other in others[:_MOST_ALERTS]]


def history(transitions: list[AlertTransition]) -> list[HistoryRow]:
    """Return an alert's history in words."""
    return [HistoryRow(row, transition_text(row)) for row in transitions]
