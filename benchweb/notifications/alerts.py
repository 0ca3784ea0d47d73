"""Alerts as events: each transition that people may be told of is told once, in the same transaction."""

from collections.abc import Sequence
from typing import Any

from django.dispatch import receiver
from django.utils import translation
from django.utils.translation import gettext as _

from benchweb.hosts.models import Host
from benchweb.labels import Labelled
from benchweb.notifications.events import NotificationEvent
from benchweb.notifications.routing import notify
from benchweb.regressions.alert_texts import alert_title, unconfirmed_reason
from benchweb.regressions.explanations import explanation
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.signals import alert_changed
from benchweb.site.values import site_setting

# What became of an alert whose snooze ended because it got worse; of all others, its state.
_WORSE = "worse"


@receiver(alert_changed, sender=Alert, dispatch_uid="benchweb.notifications.alerts")
def tell_alert(alert: Alert, transition: AlertTransition, **_kwargs: Any) -> None:
    """Write the messages about a transition; in the installation's language, whoever caused it."""
    hosts = _hosts(alert)
    with translation.override(site_setting("DEFAULT_LANGUAGE")):
        event = NotificationEvent(
            # A transition is told once, and no other is taken for it.
            id=f"alert-{alert.pk}-{transition.pk}",
            thread=f"alert-{alert.pk}",
            kind=alert.kind,
            transition=_WORSE if _is_worse(transition) else transition.to_state,
            severity=alert.severity,
            title=alert_title(alert),
            text=_text(alert, transition),
            url=f"/alerts/{alert.pk}",
            at=transition.at,
            environment_id=alert.environment_id,
            plan_id=alert.plan_id,
            host_ids=tuple(host.pk for host in hosts),
            labels=_labels(alert, hosts),
        )
    notify(event)


def _labels(alert: Alert, hosts: Sequence[Host]) -> tuple[str, ...]:
    """Return the labels of an alert's hosts, pair and plan."""
    labelled: list[Labelled] = [*hosts, *(row for row in (alert.pair, alert.plan) if row)]
    return tuple(sorted({label for row in labelled for label in row.labels}))


def _hosts(alert: Alert) -> list[Host]:
    """Return the hosts that an alert is about, each once."""
    ends = [end for end in (alert.pair.source, alert.pair.sink) if end] if alert.pair else []
    hosts = [alert.host, *(end.host for end in ends), alert.endpoint.host if alert.endpoint else None]
    return list({host.pk: host for host in hosts if host is not None}.values())


def _text(alert: Alert, transition: AlertTransition) -> str:
    """Say what became of it, by whom, and what else changed when it began, a line each."""
    by = f", {transition.by.get_username()}" if transition.by else ""
    state = _("worse than when it was snoozed") if _is_worse(transition) else transition.get_to_state_display()
    lines = [f"{state}{by}", transition.comment, unconfirmed_reason(alert)]
    if transition.to_state == Alert.State.OPEN:
        lines += [f"{fact.host}: {'; '.join(fact.words)}" for fact in explanation(alert).facts]
    return "\n".join(line for line in lines if line)


def _is_worse(transition: AlertTransition) -> bool:
    return transition.action == AlertTransition.AlertAction.WOKEN
