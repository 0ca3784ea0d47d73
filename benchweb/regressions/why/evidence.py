"""Rank what may be why an alert's series fell, by the evidence of all hosts and nights: nothing is called the cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchweb.documents.references import Label
from benchweb.regressions.deciding import LARGEST_P_OF_CAUSE
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.why.fallen import Fallen, Unknown, fallen_of
from benchweb.regressions.why.possible import CauseKind, MaintenanceSpan, PossibleCause, is_near, possible_causes
from benchweb.statistics.attribution import UnitShift, WaveEffect, joint_chance

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
    # At how many other times it came to hosts or pairs, and after how many of these they did not fall.
    elsewhere: int
    elsewhere_unchanged: int
    # By how much more than the others the exposed hosts' pairs changed, with its 95 % interval, and of those that fell
    # the extremes.
    change: float
    interval: tuple[float, float] | None
    extremes: tuple[float, float] | None
    # How often chance alone does as well, at any hosts and time, among all that happened in that time.
    p: float

    @property
    def is_likely(self) -> bool:
        """Tell whether chance alone hardly ever does as well; without pairs to compare with nobody can tell."""
        return self.p <= LARGEST_P_OF_CAUSE and self.explained.fell > 0 and self.unexposed.pairs > 0


@dataclass(frozen=True)
class Why:
    """What may be why an alert's series fell, the best evidence first, and what was looked at."""

    # Why nothing can be told, if so.
    unknown: Unknown
    ranked: list[Evidence]
    # Evidence that is not among the first.
    ranked_left_out: int
    # All that happened in the time looked at, near the alert or not, and whether there was more than was read.
    happened: int
    is_cut: bool
    # Pairs looked at or left out.
    pairs: int
    pairs_left_out: int
    # The ends of the alert's own pairs.
    own_hosts: frozenset[int]
    # Changes are shares of the level; else they are in this unit.
    is_share: bool
    unit: str

    @property
    def is_explained(self) -> bool:
        """Tell whether something that happened goes together with the fall."""
        return any(evidence.is_likely for evidence in self.ranked)


def why_of(*alerts: Alert, maintenance: Sequence[MaintenanceSpan] = ()) -> Why | None:
    """Return what may be why one or several alerts fell together; None where they have no series.

    The maintenance windows about them come from whoever has them: benchweb/notifications/maintenance.py.
    Some twenty queries, whatever the number of hosts.
    """
    fallen = fallen_of(alerts)
    if fallen is None or not fallen.begun:
        has_series = AlertSeries.objects.filter(alert__in=alerts).exists()
        return Why("unjudged", [], 0, 0, False, 0, 0, frozenset(), True, "") if has_series else None
    happenings = None if fallen.unknown else possible_causes(fallen, maintenance)
    ranked = ranked_causes(fallen, happenings.causes) if happenings else []
    return Why(
        unknown=fallen.unknown,
        ranked=ranked[:MOST_RANKED],
        ranked_left_out=len(ranked[MOST_RANKED:]),
        happened=len(happenings.causes) if happenings else 0,
        is_cut=happenings is not None and happenings.is_cut,
        pairs=len(fallen.pairs),
        pairs_left_out=fallen.pairs_left_out,
        own_hosts=frozenset(host for unit in fallen.units for host in fallen.pairs[unit].hosts),
        is_share=fallen.is_logarithmic,
        unit=fallen.metric.unit,
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
    near = {exposure for exposure in cause.exposures if is_near(exposure, fallen)}
    if not any(exposure.units & fallen.units for exposure in near):
        return None
    effects = fallen.panel.effects(cause.exposures)
    then = [effect for effect in effects if near & set(effect.exposures)]
    if not then:
        return None
    apart = [effect for effect in effects if effect not in then]
    exposed, unexposed = _units(then), _unexposed(then)
    fell = [shift.excess for shift in exposed if shift.excess >= fallen.least]
    # Of several waves the placebos' spread isn't one.
    interval = then[0].interval if len(then) == 1 else None
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
        interval=_ordered(*map(fallen.change, interval)) if interval else None,
        extremes=_ordered(fallen.change(min(fell)), fallen.change(max(fell))) if fell else None,
        p=min(1.0, joint_chance(effects) * happened),
    )


def _units(effects: Sequence[WaveEffect]) -> list[UnitShift]:
    """Return each exposed unit once: a pair between two hosts that got it is exposed twice."""
    return list({shift.unit: shift for effect in effects for shift in effect.units}.values())


def _unexposed(effects: Sequence[WaveEffect]) -> list[UnitShift]:
    exposed = {shift.unit for effect in effects for shift in effect.units}
    return [shift for shift in effects[0].others if shift.unit not in exposed]


def _count(shifts: Sequence[UnitShift], fallen: Fallen) -> PairCount:
    return PairCount(sum(shift.excess >= fallen.least for shift in shifts), len(shifts))


def _ordered(first: float, second: float) -> tuple[float, float]:
    return min(first, second), max(first, second)
