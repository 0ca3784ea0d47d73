"""The life of an alert: every transition locks its row, is checked against the state it has then, and is recorded."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.common.refusals import RefusedWrite
from benchweb.regressions.models import LIVE_STATES, Alert, AlertTransition
from benchweb.regressions.noise import teach_noise
from benchweb.regressions.signals import alert_changed, is_untold

State = Alert.State
MOST_CHARACTERS = 2_000
_FROM: Mapping[str, tuple[str, ...]] = {
    State.SUSPECT: (State.CONFIRMING,),
    State.CONFIRMING: (State.SUSPECT,),
    State.OPEN: (State.SUSPECT, State.CONFIRMING),
    State.ACKNOWLEDGED: (State.SUSPECT, State.CONFIRMING, State.OPEN),
    State.EXPECTED: LIVE_STATES,
    State.INVALID: LIVE_STATES,
    State.FIXED: LIVE_STATES,
    State.RECOVERED: LIVE_STATES,
}
# Nobody is told of these: they are on their way to something that people may be told of, or somebody's own doing.
_UNANNOUNCED = (State.SUSPECT, State.CONFIRMING, State.MERGED)


class AlertError(RefusedWrite):
    """A refused change of an alert; `field` is empty where its state is in the way."""


def begin(alert: Alert) -> Alert:
    """Save a new alert with the first row of its history."""
    alert.created_at = timezone.now()
    if alert.state == State.OPEN:
        alert.opened_at = alert.created_at
    alert.save(force_insert=True)
    record(alert, AlertTransition.AlertAction.FOUND, "", None, "")
    return alert


@transaction.atomic
def move(
    alert_id: int,
    to: str,
    *,
    by: User | None = None,
    comment: str = "",
    changes: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
) -> bool:
    """Bring an alert to a state with other changes of its row; False, with nothing written, when it can't go there.

    `params` are kept in its history.
    """
    alert = Alert.objects.select_for_update().filter(pk=alert_id, state__in=_FROM[to]).first()
    if alert is None:
        return False
    before, now = alert.state, timezone.now()
    for name, value in (changes or {}).items():
        setattr(alert, name, value)
    alert.state = to
    alert.ended_at = None if to in LIVE_STATES else now
    # Whoever acknowledged it knows of it, and waits for its recovery.
    if to in (State.OPEN, State.ACKNOWLEDGED) and alert.opened_at is None:
        alert.opened_at = now
    alert.save()
    params = {"taught": teach_noise(alert, now)} if to == State.INVALID else params
    record(alert, AlertTransition.AlertAction.MOVED, before, by, comment, params=params)
    return True


@transaction.atomic
def come_back(alert_id: int) -> bool:
    """Open an alert again that recovered by itself and is back: it comes and goes; False where it is not so."""
    alert = Alert.objects.select_for_update().filter(pk=alert_id, state=State.RECOVERED).first()
    if alert is None:
        return False
    before, alert.state, alert.ended_at = alert.state, State.OPEN, None
    alert.save()
    record(alert, AlertTransition.AlertAction.MOVED, before, None, "")
    return True


def acknowledge(*, alert_id: int, by: User | None, comment: str = "") -> None:
    """Take an alert as known: it tells no more of the same segment."""
    _moved_by(alert_id, State.ACKNOWLEDGED, by, comment)


def expect(*, alert_id: int, by: User | None, comment: str = "") -> None:
    """Take the new level as the baseline."""
    _moved_by(alert_id, State.EXPECTED, by, comment)


def invalidate(*, alert_id: int, by: User | None, comment: str = "") -> None:
    """Call an alert noise: its series tell no more of changes as small as theirs were."""
    _moved_by(alert_id, State.INVALID, by, comment)


def fix(*, alert_id: int, by: User | None, comment: str = "") -> None:
    """Call what an alert tells fixed."""
    _moved_by(alert_id, State.FIXED, by, comment)


def assign(*, alert_id: int, assignee: User | None, by: User | None, comment: str = "") -> None:
    """Give an alert to somebody, or to nobody."""
    name = assignee.get_username() if assignee else None
    with change(alert_id, even_ended=True) as alert:
        alert.assignee = assignee
        record(alert, AlertTransition.AlertAction.ASSIGNED, alert.state, by, comment, params={"assignee": name})


def remark(*, alert_id: int, comment: str, by: User | None, ticket_url: str | None = None) -> None:
    """Add a comment, and the address of a ticket where one is given."""
    if not comment.strip() and ticket_url is None:
        raise AlertError("comment", _("A comment has at least one character."))
    if ticket_url and not ticket_url.startswith(("http://", "https://")):
        raise AlertError("ticket_url", _("A ticket's address begins with http:// or https://."))
    if ticket_url and not ticket_url.isprintable():
        raise AlertError("ticket_url", _("A ticket's address has no blanks at its ends and no control characters."))
    params = {} if ticket_url is None else {"ticket_url": ticket_url}
    with change(alert_id, even_ended=True) as alert:
        alert.ticket_url = alert.ticket_url if ticket_url is None else ticket_url
        record(alert, AlertTransition.AlertAction.COMMENTED, alert.state, by, comment, params=params)


@contextmanager
def change(alert_id: int, *, even_ended: bool = False) -> Iterator[Alert]:
    """Lock an alert, give it to be changed, and save it; refused where it has ended, unless that is allowed."""
    with transaction.atomic():
        alert = Alert.objects.select_for_update().get(pk=alert_id)
        if not even_ended:
            check_live(alert)
        yield alert
        alert.save()


def check_live(alert: Alert, field: str = "") -> None:
    """Raise AlertError where an alert has ended."""
    if alert.state not in LIVE_STATES:
        refusal = _("Alert {alert_id} has ended: {state}.")
        raise AlertError(field, refusal.format(alert_id=alert.pk, state=alert.get_state_display()))


@transaction.atomic
def _moved_by(alert_id: int, to: State, by: User | None, comment: str) -> None:
    if not move(alert_id, to, by=by, comment=comment):
        state = State(Alert.objects.values_list("state", flat=True).get(pk=alert_id))
        refusal = _("Alert {alert_id}: the state can't change from {state} to {wanted}.")
        raise AlertError("", refusal.format(alert_id=alert_id, state=state.label, wanted=to.label))


def record(
    alert: Alert,
    action: AlertTransition.AlertAction,
    before: str,
    by: User | None,
    comment: str,
    *,
    params: Mapping[str, Any] | None = None,
    announced: bool | None = None,
) -> None:
    """Write a row of an alert's history, and tell of it: by itself where its state is another one that is told."""
    _check_comment(comment)
    row = AlertTransition.objects.create(
        alert=alert,
        action=action,
        at=timezone.now(),
        by=by,
        from_state=before,
        to_state=alert.state,
        comment=comment.strip(),
        params=dict(params or {}),
    )
    is_news = before != alert.state and alert.state not in _UNANNOUNCED if announced is None else announced
    if is_news and alert.opened_at is not None and not is_untold():
        alert_changed.send(sender=Alert, alert=alert, transition=row)


def _check_comment(comment: str) -> None:
    if len(comment) > MOST_CHARACTERS:
        raise AlertError("comment", _("A comment has at most {most:,} characters.").format(most=MOST_CHARACTERS))
    if "\0" in comment:
        raise AlertError("comment", _("A comment can't hold the NUL character."))
