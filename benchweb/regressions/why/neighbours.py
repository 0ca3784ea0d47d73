"""Hours in which hosts carried far more than usual: what others on the same uplink may have suffered from."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.hosts.models import Host
from benchweb.regressions.deciding import BUSY_LINK_SHARE, BUSY_TIMES, LEAST_USUAL_DAYS, USUAL_DAYS_SHARE

_HOUR = timedelta(hours=1)
# Compared with the same hour of all days: what comes each night is usual. A link's speed is the kernel's, else what
# people said of it; of one that nobody knows nothing is much.
_BUSY = """
WITH metered AS (
  SELECT probed.endpoint_id, host.id AS host_id, host.name AS host, host.uplink, probed.hour AS at,
    (probed.received_bps_sum + probed.sent_bps_sum) / probed.metered AS bps,
    coalesce(probed.link_bps, endpoint.link_bps) AS link_bps, extract(hour FROM probed.hour AT TIME ZONE 'UTC') AS clock
  FROM hosts_probehour probed
  JOIN hosts_endpoint endpoint ON endpoint.id = probed.endpoint_id
  JOIN hosts_host host ON host.id = endpoint.host_id
  WHERE host.uplink = ANY(%(uplinks)s) AND probed.hour BETWEEN %(first)s AND %(last)s AND probed.metered > 0
), usual AS (
  SELECT endpoint_id, clock, percentile_disc(%(share)s) WITHIN GROUP (ORDER BY bps) AS usual_bps
  FROM metered GROUP BY endpoint_id, clock HAVING count(*) >= %(least_days)s
)
SELECT endpoint_id, host_id, host, uplink, at, bps, usual_bps FROM metered JOIN usual USING (endpoint_id, clock)
WHERE bps > %(times)s * usual_bps AND bps >= %(link_share)s * link_bps
ORDER BY endpoint_id, at
"""


class _BusyHour(NamedTuple):
    endpoint_id: int
    host_id: int
    host: str
    uplink: str
    at: datetime
    bps: float
    usual_bps: float


class BusySpell(NamedTuple):
    """Hours in a row in which a host carried far more than at these hours of other days, by its own sampler."""

    host_id: int
    host: str
    uplink: str
    begins_at: datetime
    # Of the busiest hour: the mean of what was sent and received, and what it usually is at most at that hour; bit/s.
    most_bps: float
    usual_bps: float


def busy_spells(host_ids: Collection[int], first: datetime, last: datetime) -> list[BusySpell]:
    """Return the spells of all hosts that share an uplink with one of these; two queries.

    A host of which no five days are known has none: what is usual there isn't known either.
    """
    shared = Host.objects.filter(pk__in=host_ids).exclude(uplink="").order_by()
    values = {
        "uplinks": list(shared.values_list("uplink", flat=True).distinct()),
        "first": first,
        "last": last,
        "share": USUAL_DAYS_SHARE,
        "least_days": LEAST_USUAL_DAYS,
        "times": BUSY_TIMES,
        "link_share": BUSY_LINK_SHARE,
    }
    spells: list[BusySpell] = []
    latest: _BusyHour | None = None
    for hour in fetch(_BusyHour, _BUSY, values) if values["uplinks"] else []:
        found = BusySpell(hour.host_id, hour.host, hour.uplink, hour.at, hour.bps, hour.usual_bps)
        if latest and latest.endpoint_id == hour.endpoint_id and hour.at - latest.at <= _HOUR:
            begun = spells.pop()
            found = max(begun, found, key=lambda spell: spell.most_bps)._replace(begins_at=begun.begins_at)
        spells.append(found)
        latest = hour
    return spells
