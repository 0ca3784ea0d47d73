"""Rank what may be why an alert's series fell, by the evidence of all hosts and nights: nothing is called the cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchweb.documents.references import Label
from benchweb.regressions.deciding import NEAR_RUNS
from benchweb.regressions.models import Alert
from benchweb.regressions.why.fallen import Fallen, fallen_of
from benchweb.regressions.why.possible import CauseKind, PossibleCause, near_exposures, possible_causes
from benchweb.statistics.attribution import ExposureEffect, UnitShift, joint_chance
from benchweb.statistics.deciding import LARGEST_P_OF_DIFFERENCE, LEAST_VALUES_OF_INTERVAL
from benchweb.statistics.median_interval import quick_median_difference_interval

# A reader looks at no more; the rest is counted.
MOST_RANKED = 20


@dataclass(frozen=True)
class PairCount:
    """How many pairs, and how many of them got worse as the alert's did."""

    fell: int
    pairs: int


@dataclass(frozen=True)
class Evidence:
    """What speaks for and against one possible cause.

    Changes are shares of the level, or in the metric's unit where that is a ratio; None where too few pairs tell.
    """

    kind: CauseKind
    words: Label
    # The hosts that had it when the alert began, by id; none of what is about pairs.
    hosts: dict[int, str]
    # Pairs that got it then, pairs without it, and the alert's own pairs among the former.
    exposed: PairCount
    unexposed: PairCount
    explained: PairCount
    # Hosts that it happened to at another time, and after how many of these times their pairs did not fall.
    elsewhere: int
    elsewhere_unchanged: int
    # By how much more than the others the exposed pairs changed: their median with its 95 % interval, and the extremes
    # of those that fell.
    change: float
    interval: tuple[float, float] | None
    extremes: tuple[float, float] | None
    # How often chance alone does as well, at any host and night, among all that happened in that time.
    p: float

    @property
    def is_likely(self) -> bool:
        """Tell whether chance alone hardly ever does as well."""
        return self.p <= LARGEST_P_OF_DIFFERENCE and self.explained.fell > 0


@dataclass(frozen=True)
class Why:
    """What may be why an alert's series fell, the best evidence first, and what was looked at."""

    # The size of the fall can't be told: too few runs before it.
    is_unknown: bool
    ranked: list[Evidence]
    # All that happened in the time looked at, near the alert or not; and pairs looked at or left out.
    happened: int
    pairs: int
    pairs_left_out: int
    unit: str

    @property
    def is_explained(self) -> bool:
        """Tell whether something that happened goes together with the fall."""
        return any(evidence.is_likely for evidence in self.ranked)


def why_of(*alerts: Alert) -> Why | None:
    """Return what may be why one or several alerts fell together; None where they have no series.

    Some ten queries, whatever the number of hosts.
    """
    fallen = fallen_of(alerts)
    if fallen is None:
        return None
    if fallen.size is None:
        return Why(True, [], 0, len(fallen.pairs), fallen.pairs_left_out, fallen.metric.unit)
    causes = possible_causes(fallen)
    return Why(
        is_unknown=False,
        ranked=ranked_causes(fallen, causes)[:MOST_RANKED],
        happened=len(causes),
        pairs=len(fallen.pairs),
        pairs_left_out=fallen.pairs_left_out,
        unit="" if fallen.is_logarithmic else fallen.metric.unit,
    )


def ranked_causes(fallen: Fallen, causes: Sequence[PossibleCause]) -> list[Evidence]:
    """Return the evidence of those that came to the alert's pairs when they fell, the best first."""
    return sorted((each for cause in causes if (each := _evidence(cause, fallen, len(causes)))), key=_order)


def _order(evidence: Evidence) -> tuple[float, ...]:
    """Sort what goes together first: by how much of the alert it explains, then by how few got it without falling."""
    share = evidence.exposed.fell / evidence.exposed.pairs if evidence.exposed.pairs else 0.0
    return (not evidence.is_likely, -evidence.explained.fell, -share, evidence.p)


def _evidence(cause: PossibleCause, fallen: Fallen, happened: int) -> Evidence | None:
    """Weigh a possible cause; None of one that came to none of the alert's pairs when they fell."""
    near = near_exposures(cause, fallen, NEAR_RUNS)
    if not any(exposure.units & fallen.units for exposure in near):
        return None
    effects = fallen.panel.effects(cause.exposures)
    then = [effect for effect in effects if effect.exposure in near]
    if not then:
        return None
    apart = [effect for effect in effects if effect.exposure not in near]
    exposed, unexposed = _units(then), _unexposed(then)
    fell = [shift.excess for shift in exposed if shift.excess >= fallen.least]
    chance = joint_chance([effect.p for effect in effects])
    return Evidence(
        kind=cause.kind,
        words=cause.words,
        hosts={host: name for host, name in cause.hosts.items() if any(host == each.cluster for each in near)},
        exposed=_count(exposed, fallen),
        unexposed=_count(unexposed, fallen),
        explained=_count([shift for shift in exposed if shift.unit in fallen.units], fallen),
        elsewhere=len(apart),
        elsewhere_unchanged=sum(effect.size < fallen.least for effect in apart),
        change=fallen.change(fmean(effect.size for effect in then)),
        interval=_interval(exposed, unexposed, fallen),
        extremes=_ordered(fallen.change(min(fell)), fallen.change(max(fell))) if fell else None,
        p=min(1.0, chance * happened),
    )


def _units(effects: Sequence[ExposureEffect]) -> list[UnitShift]:
    """Return each exposed unit once: a pair between two hosts that got it is exposed twice."""
    return list({shift.unit: shift for effect in effects for shift in effect.units}.values())


def _unexposed(effects: Sequence[ExposureEffect]) -> list[UnitShift]:
    exposed = {shift.unit for effect in effects for shift in effect.units}
    return [shift for shift in effects[0].others if shift.unit not in exposed]


def _count(shifts: Sequence[UnitShift], fallen: Fallen) -> PairCount:
    return PairCount(sum(shift.excess >= fallen.least for shift in shifts), len(shifts))


def _interval(
    exposed: Sequence[UnitShift], unexposed: Sequence[UnitShift], fallen: Fallen
) -> tuple[float, float] | None:
    if min(len(exposed), len(unexposed)) < LEAST_VALUES_OF_INTERVAL:
        return None
    low, high = quick_median_difference_interval(
        [shift.excess for shift in unexposed], [shift.excess for shift in exposed]
    )
    return _ordered(fallen.change(low), fallen.change(high))


def _ordered(first: float, second: float) -> tuple[float, float]:
    return min(first, second), max(first, second)
