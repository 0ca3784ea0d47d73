"""What an overview tells of alerts: the worst that are open, how many there are, and the night in numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db.models import Case, F, OuterRef, Q, Subquery, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Abs, JSONObject
from django.utils import timezone

from benchweb.common.rows import fetch, literals
from benchweb.regressions.handling.snoozes import is_snoozed
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.selectors import named_alerts

# People have dealt with these: they are in the history of alerts, not in the morning.
DONE_STATES = (
    Alert.State.ACKNOWLEDGED,
    Alert.State.EXPECTED,
    Alert.State.INVALID,
    Alert.State.FIXED,
    Alert.State.MERGED,
)
_SUSPECT_STATES = (Alert.State.SUSPECT, Alert.State.CONFIRMING)
_DAY = timedelta(days=1)

# As snoozes.is_snoozed has it.
_AWAKE = "coalesce(snoozed_until <= statement_timestamp(), snoozed_rank IS NULL)"
# What is missing from the night so far: a slot of later is not due.
_NUMBERS = f"""
WITH begun AS (
  SELECT kind FROM regressions_alert
  WHERE night = %(night)s AND opened_at IS NOT NULL AND state NOT IN ({literals((*DONE_STATES, "recovered"))})
    AND {_AWAKE}
), slot AS (
  SELECT state FROM schedules_slot WHERE at >= %(begins)s AND at < least(%(ends)s, statement_timestamp())
)
SELECT (SELECT count(*) FROM slot) AS slots, (SELECT count(*) FROM slot WHERE state = 'finished') AS complete_slots,
  (SELECT count(*) FROM begun WHERE kind <> 'absence') AS changed,
  (SELECT count(*) FROM begun WHERE kind = 'absence') AS missing,
  (SELECT count(*) FROM regressions_alert
    WHERE state = 'recovered' AND opened_at IS NOT NULL AND ended_at >= %(begins)s AND ended_at < %(ends)s
  ) AS recovered,
  (SELECT count(*) FROM regressions_alert WHERE state IN ({literals(_SUSPECT_STATES)})) AS suspects,
  (SELECT coalesce(jsonb_object_agg(coalesce(environment_id, 0), open), '{{}}') FROM (
    SELECT environment_id, count(*) AS open FROM regressions_alert
    WHERE state = 'open' AND {_AWAKE} GROUP BY environment_id
  ) each) AS by_environment
"""  # noqa: S608  (states of our own)


@dataclass(frozen=True)
class AlertLine:
    """The recent medians of the series that an alert is named by, oldest first, and the level before its change."""

    metric: str
    before: float
    ats: list[datetime]
    medians: list[float]


class _Numbers(NamedTuple):
    slots: int
    complete_slots: int
    changed: int
    missing: int
    recovered: int
    suspects: int
    by_environment: dict[str, int]


@dataclass(frozen=True)
class AlertsNow:
    """The worst open alerts, how many there are, and what the latest night gave; of a snoozed one nothing is told."""

    worst: Sequence[Alert]
    lines: Mapping[int, AlertLine]
    # By environment; 0 is that of alerts without one.
    open_by_environment: Mapping[int, int]
    suspects: int
    night: date
    slots: int
    complete_slots: int
    changed: int
    missing: int
    recovered: int

    @property
    def open(self) -> int:
        return sum(self.open_by_environment.values())

    @property
    def is_quiet(self) -> bool:
        """Tell whether all slots so far are complete and nothing of the night is left to look at."""
        return self.slots > 0 and self.slots == self.complete_slots and not self.changed and not self.missing


def alerts_now(most: int) -> AlertsNow:
    """Return the `most` worst open alerts, and the night that ends today at noon, UTC, in numbers; two queries."""
    now = timezone.now()
    night = now.astimezone(UTC).date()
    ends = datetime.combine(night, time(12), UTC)
    numbers = fetch(_Numbers, _NUMBERS, {"night": night, "begins": ends - _DAY, "ends": ends})[0]
    named = named_alerts().annotate(named_kind=KT("params__kind"), named_metric=KT("params__metric"))
    found = named.filter(~is_snoozed(), state=Alert.State.OPEN).annotate(line=_line_of_outer())
    worst = list(found.order_by("-rank", "-pk")[:most])
    return AlertsNow(
        worst=worst,
        lines={alert.pk: _line(line) for alert in worst if (line := alert.line)},
        open_by_environment={int(key): count for key, count in numbers.by_environment.items()},
        suspects=numbers.suspects,
        night=night,
        slots=numbers.slots,
        complete_slots=numbers.complete_slots,
        changed=numbers.changed,
        missing=numbers.missing,
        recovered=numbers.recovered,
    )


def _line_of_outer() -> Subquery:
    """Return the series that an alert is named by: of its metric the one that changed most."""
    is_named = Q(series__kind=OuterRef("named_kind"), series__metric=OuterRef("named_metric"))
    parts = AlertSeries.objects.filter(alert=OuterRef("pk"), series__recent__isnull=False)
    # What refers to the outer query may stand in no ordering.
    parts = parts.annotate(is_other=Case(When(is_named, then=Value(0)), default=Value(1)))
    parts = parts.order_by("is_other", Abs(F("difference_ratio")).desc(nulls_last=True), "pk")
    recent = {name: f"series__recent__{name}" for name in ("ats", "medians")}
    return Subquery(parts.values(line=JSONObject(metric="series__metric", before="before", **recent))[:1])


def _line(found: dict[str, Any]) -> AlertLine:
    ats = [datetime.fromisoformat(at) for at in found["ats"]]
    return AlertLine(found["metric"], found["before"], ats, found["medians"])
