"""Find whom an alert concerns: its pairs, hosts and environments, whatever it is of."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from benchweb.hosts.models import Environment, Host, Pair
from benchweb.regressions.models import Alert
from benchweb.schedules.targets import resolved_target


@dataclass(frozen=True)
class Concerned:
    """What an alert is about, each once; pairs come with their ends' hosts and environments."""

    pairs: Sequence[Pair]
    hosts: Sequence[Host]
    environments: Sequence[Environment]


def concerned_by(alert: Alert) -> Concerned:
    """Return what an alert is about: of an endpoint its pairs, of a schedule what it runs on; a few queries."""
    pairs = _pairs(alert)
    ends = {end.host_id: end.host for pair in pairs for end in (pair.source, pair.sink)}
    # A slot is of all that it runs on, whichever host explains what it lacks now.
    named = [host for host in (alert.host, alert.endpoint.host if alert.endpoint else None) if host]
    named = [] if alert.code == "slot" else named
    hosts = {host.pk: host for host in named} or ends
    environments = {pair.environment_id: pair.environment for pair in pairs}
    if alert.environment is not None:
        environments = {alert.environment.pk: alert.environment}
    return Concerned(pairs, list(hosts.values()), list(environments.values()))


def _pairs(alert: Alert) -> Sequence[Pair]:
    if alert.kind != Alert.Kind.ABSENCE:
        return _of(Q(pk__in=alert.series.values("series__pair")))
    if alert.pair_id is not None and alert.code != "slot":
        return _of(Q(pk=alert.pair_id))
    if alert.endpoint_id is not None:
        return _of(Q(source=alert.endpoint_id) | Q(sink=alert.endpoint_id), archived_at=None)
    # Of a mesh, pairs that are not made yet are only spoken of.
    return [pair for pair in resolved_target(alert.schedule.target).pairs if pair.pk] if alert.schedule else []


def _of(which: Q, **filters: object) -> Sequence[Pair]:
    ends = ("source__host", "sink__host", "environment")
    return list(Pair.objects.filter(which, **filters).select_related(*ends).order_by("pk"))
