"""Hours in which hosts carried far more than usual: what others on the same uplink may have suffered from."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import F, FloatField, Window
from django.db.models.functions import Cast, CumeDist, ExtractHour

from benchweb.hosts.models import ProbeHour
from benchweb.regressions.deciding import BUSY_LINK_SHARE, BUSY_TIMES, USUAL_DAYS_SHARE

_HOUR = timedelta(hours=1)


class _Hour(NamedTuple):
    endpoint_id: int
    host_id: int
    host: str
    uplink: str
    at: datetime
    # Sent and received, the mean of the hour.
    bps: float
    link_bps: float | None


class BusySpell(NamedTuple):
    """Hours in a row in which a host carried far more than at these hours of other days, by its own sampler."""

    host_id: int
    host: str
    uplink: str
    begins_at: datetime
    # Of the busiest hour, sent and received, and what it usually is at most at that hour of the day; in bit/s.
    most_bps: float
    usual_bps: float


def busy_spells(host_ids: Collection[int], first: datetime, last: datetime) -> list[BusySpell]:
    """Return the spells of all hosts that share an uplink with one of these, in the order of time; one query.

    A host of which no four days are known has none: what is usual there isn't known either.
    """
    shared = ProbeHour.objects.filter(endpoint__host__in=host_ids).exclude(endpoint__host__uplink="")
    uplinks = shared.values("endpoint__host__uplink")
    metered = ProbeHour.objects.filter(endpoint__host__uplink__in=uplinks, hour__range=(first, last), metered__gt=0)
    carried = Cast((F("received_bps_sum") + F("sent_bps_sum")) / F("metered"), FloatField())
    # Among the same hours of all days: what comes each night is usual.
    place = Window(CumeDist(), partition_by=["endpoint", ExtractHour("hour")], order_by="bps")
    busiest = metered.annotate(bps=carried).annotate(place=place).filter(place__gt=USUAL_DAYS_SHARE)
    of_host = ("endpoint__host", "endpoint__host__name", "endpoint__host__uplink")
    rows = busiest.order_by("endpoint", "hour").values_list("endpoint", *of_host, "hour", "bps", "link_bps")
    return sorted(_spells([_Hour(*row) for row in rows]), key=lambda spell: (spell.begins_at, spell.host_id))


def _spells(hours: Collection[_Hour]) -> Iterable[BusySpell]:
    """Return the spells among the busiest hours, of which the quietest of each hour of the day is what is usual."""
    alike: dict[tuple[int, int], list[float]] = defaultdict(list)
    for hour in hours:
        alike[hour.endpoint_id, hour.at.hour].append(hour.bps)
    usual = {key: min(values) for key, values in alike.items()}
    spells: list[BusySpell] = []
    latest: _Hour | None = None
    for hour in hours:
        at_most = usual[hour.endpoint_id, hour.at.hour]
        if hour.bps <= BUSY_TIMES * at_most or hour.bps < BUSY_LINK_SHARE * (hour.link_bps or 0.0):
            continue
        found = BusySpell(hour.host_id, hour.host, hour.uplink, hour.at, hour.bps, at_most)
        if latest and latest.endpoint_id == hour.endpoint_id and hour.at - latest.at <= _HOUR:
            begun = spells.pop()
            found = max(begun, found, key=lambda each: each.most_bps)._replace(begins_at=begun.begins_at)
        spells.append(found)
        latest = hour
    return spells
