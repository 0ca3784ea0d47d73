"""Alerts as events: each transition that people may be told of is told once, in the same transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.dispatch import receiver
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.labels import Labelled
from benchweb.notifications.events import NotificationEvent
from benchweb.notifications.models import Delivery, MaintenanceWindow
from benchweb.notifications.routing import JOINED, notify
from benchweb.regressions.alert_details import detail_lines, duration_line, measure_lines
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.concerned import Concerned, concerned_by
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.signals import alert_changed
from benchweb.site.values import site_setting

Action = AlertTransition.AlertAction
# What became of an alert whose snooze ended because it got worse, and of one that has a new measure; of all others,
# its state.
_WORSE, _JOINED = "worse", JOINED
_OTHERS: Mapping[str, str] = {Action.WOKEN: _WORSE, Action.JOINED: _JOINED}
_STATES = {_WORSE: gettext_lazy("worse than when it was snoozed"), _JOINED: gettext_lazy("another measure got worse")}


@receiver(alert_changed, sender=Alert, dispatch_uid="benchweb.notifications.alerts")
def tell_alert(alert: Alert, transition: AlertTransition, **_kwargs: Any) -> None:
    """Write the messages about a transition; in the installation's language, whoever caused it.

    Of a history that nobody measured nobody is told.
    """
    if not alert.is_synthetic:
        notify(_event(alert, transition))


def tell_again(alert: Alert, transition: AlertTransition, occasion: str) -> list[Delivery]:
    """Tell that an alert goes on since a transition that was muted; once for each occasion, named as an id's part."""
    return notify(_event(alert, transition, still=occasion))


def _event(alert: Alert, transition: AlertTransition, *, still: str = "") -> NotificationEvent:
    concerned = concerned_by(alert)
    earlier = _earlier(alert, transition) if alert.ended_at is not None else []
    with translation.override(site_setting("DEFAULT_LANGUAGE")):
        return NotificationEvent(
            # A transition is told once, and no other is taken for it.
            id="-".join(["alert", str(alert.pk), str(transition.pk), *([still] if still else [])]),
            thread=f"alert-{alert.pk}",
            kind=alert.kind,
            transition=_transition_name(transition),
            severity=alert.severity,
            title=alert_title(alert),
            text=_text(alert, transition, concerned, is_still=bool(still)),
            url=f"/alerts/{alert.pk}",
            at=timezone.now() if still else transition.at,
            environment_ids=tuple(environment.pk for environment in concerned.environments),
            plan_id=alert.plan_id,
            host_ids=tuple(host.pk for host in concerned.hosts),
            labels=_labels(alert, concerned),
            told_by=_beginnings(alert, earlier),
        )


def _earlier(alert: Alert, transition: AlertTransition) -> list[AlertTransition]:
    """Return what happened to an alert before, and to those that it was split off from."""
    rows = list(alert.transitions.filter(pk__lt=transition.pk))
    for row in rows:
        if row.action == Action.SPLIT and "from" in row.params:
            rows += AlertTransition.objects.filter(alert=row.params["from"], pk__lt=row.pk)
    return rows


def _beginnings(alert: Alert, earlier: Sequence[AlertTransition]) -> tuple[str, ...]:
    """Return the ids of the events that told that an alert is open; with what told it after maintenance."""
    windows = MaintenanceWindow.objects.filter(told_at__gte=alert.begun_at).values_list("pk", flat=True)
    occasions = ["", *(f"-{occasion(pk)}" for pk in windows)] if earlier else []
    return tuple(f"alert-{row.alert_id}-{row.pk}{suffix}" for row in earlier for suffix in occasions)


def occasion(window_id: int) -> str:
    """Name the end of a maintenance window in an event's id."""
    return f"after{window_id}"


def _labels(alert: Alert, concerned: Concerned) -> tuple[str, ...]:
    """Return the labels of an alert's hosts, pairs and plan."""
    labelled: list[Labelled] = [*concerned.hosts, *concerned.pairs, *([alert.plan] if alert.plan else [])]
    return tuple(sorted({label for row in labelled for label in row.labels}))


def _text(alert: Alert, transition: AlertTransition, concerned: Concerned, *, is_still: bool) -> str:
    """Say what became of it, by whom, and what a reader needs to decide whether to get up; a line each."""
    by = f", {transition.by.get_username()}" if transition.by else ""
    what = _STATES.get(_transition_name(transition))
    lines = [f"{what or transition.get_to_state_display()}{by}", transition.comment]
    if is_still:
        # The line that says since when follows.
        lines = [_("still so after maintenance")]
    if _transition_name(transition) == _JOINED:
        lines += measure_lines(alert, transition.params["parts"])
    elif alert.ended_at is not None:
        lines.append(duration_line(alert))
    elif transition.to_state == Alert.State.OPEN:
        lines += detail_lines(alert, concerned)
    return "\n".join(line for line in lines if line)


def _transition_name(transition: AlertTransition) -> str:
    return _OTHERS.get(transition.action, transition.to_state)
