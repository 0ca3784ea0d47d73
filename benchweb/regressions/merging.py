"""Merge alerts that have one cause, and split what has another from them; each is refused or done as a whole."""

from collections.abc import Collection, Iterable

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from benchweb.accounts.permissions import Permission, access_of
from benchweb.regressions.judging.grouping import describe
from benchweb.regressions.judging.locks import lock_environments
from benchweb.regressions.judging.parts import join_alert, part_off
from benchweb.regressions.judging.recovery import end_if_recovered
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.selectors import environments_of_alerts
from benchweb.regressions.thresholds.judging import describe as describe_breach
from benchweb.regressions.transitions import AlertError, check_live

State = Alert.State
# What is only suspected, or is measured again just now, is judged by rules of its own.
_FIT = (State.OPEN, State.ACKNOWLEDGED)


@transaction.atomic
def merge(*, alert_id: int, into: int, by: User | None, comment: str = "") -> None:
    """Move an alert's series to another alert and end it; recovery and worsening are reported by the other.

    Raise Refused where the user may not handle the other one: whether they may the first is the caller's to ask.
    """
    if alert_id == into:
        raise AlertError("into", _("An alert can't be merged into itself: name another one."))
    alerts = _locked_alerts((alert_id, into))
    if into not in alerts:
        raise AlertError("into", _("There is no alert {alert_id}.").format(alert_id=into))
    if by is not None:
        access_of(by).demand(Permission.RUN, environments_of_alerts([into]))
    source, target = alerts[alert_id], alerts[into]
    _check_fit(source)
    _check_fit(target, "into")
    if source.kind != target.kind:
        refusal = _("Alert {alert_id} is of the kind {kind}: alerts of one kind can be merged.")
        raise AlertError("into", refusal.format(alert_id=into, kind=target.get_kind_display()))
    join_alert(source, target, by=by, comment=comment)
    _describe(target)


@transaction.atomic
def split(*, alert_id: int, series: Collection[int], by: User | None, comment: str = "") -> Alert:
    """Move some of an alert's series to a new alert of the same state; return the new one."""
    alert = _locked_alerts((alert_id,))[alert_id]
    _check_fit(alert)
    parts = list(alert.series.filter(series__in=series).select_related("series__pair").order_by("pk"))
    _check_parts(alert, parts, series)
    new = part_off(alert, parts, by=by, comment=comment)
    for half in (alert, new):
        _describe(half)
        end_if_recovered(half.pk)
    return Alert.objects.get(pk=new.pk)


def _locked_alerts(alert_ids: Iterable[int]) -> dict[int, Alert]:
    """Lock alerts with the environments of their series: no run is judged meanwhile that may change them."""
    ids = sorted(alert_ids)
    own = Alert.objects.filter(pk__in=ids).exclude(environment=None).values_list("environment", flat=True)
    of_series = AlertSeries.objects.filter(alert__in=ids).values_list("series__pair__environment", flat=True)
    lock_environments({*own, *of_series})
    return {alert.pk: alert for alert in Alert.objects.select_for_update().filter(pk__in=ids).order_by("pk")}


def _check_fit(alert: Alert, field: str = "") -> None:
    check_live(alert, field)
    if alert.state not in _FIT:
        refusal = _("Alert {alert_id} is {state}: it can be merged or split once it is open.")
        raise AlertError(field, refusal.format(alert_id=alert.pk, state=alert.get_state_display()))


def _check_parts(alert: Alert, parts: Collection[AlertSeries], series: Collection[int]) -> None:
    if not parts or {part.series_id for part in parts} != set(series):
        raise AlertError("series", _("Name series that alert {alert_id} has.").format(alert_id=alert.pk))
    if len(parts) == alert.series.count():
        raise AlertError("series", _("At least one series stays in alert {alert_id}.").format(alert_id=alert.pk))


def _describe(alert: Alert) -> None:
    if alert.series.exists():
        (describe_breach if alert.kind == Alert.Kind.THRESHOLD else describe)(alert)
