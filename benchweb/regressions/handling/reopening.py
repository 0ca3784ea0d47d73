"""Take back what somebody said of an alert."""

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.noise import Taught, forget_noise
from benchweb.regressions.transitions import AlertError, change, record

State, Action = Alert.State, AlertTransition.AlertAction
# What somebody said; what recovered did so by itself, and what was merged is in another alert.
REOPENABLE_STATES = (State.ACKNOWLEDGED, State.EXPECTED, State.INVALID, State.FIXED)


def reopen(*, alert_id: int, by: User | None, comment: str = "") -> None:
    """Open an alert again that was acknowledged, expected, noise or fixed; what was taught as noise is forgotten."""
    with change(alert_id, even_ended=True) as alert:
        if alert.state not in REOPENABLE_STATES:
            refusal = _("Alert {alert_id} is {state}: acknowledged, expected, noise and fixed alerts can be reopened.")
            raise AlertError("", refusal.format(alert_id=alert_id, state=alert.get_state_display()))
        if alert.state == State.INVALID:
            forget_noise(_taught_noise(alert))
        before, alert.state, alert.ended_at = alert.state, State.OPEN, None
        alert.opened_at = alert.opened_at or timezone.now()
        record(alert, Action.MOVED, before, by, comment)


def _taught_noise(alert: Alert) -> dict[str, Taught]:
    """Return what it taught when it was called noise last."""
    row = alert.transitions.filter(to_state=State.INVALID, action=Action.MOVED).order_by("-pk").first()
    return row.params.get("taught", {}) if row else {}
