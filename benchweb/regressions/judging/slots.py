"""Judge the causes of a slot anew once all of its pairs are judged: which hosts explain the most that is bad in it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.deciding import BAD_OF_HOST_SHARE
from benchweb.regressions.judging.grouping import describe
from benchweb.regressions.judging.parts import join_alert, part_off
from benchweb.regressions.models import UNTRIAGED_STATES, Alert, AlertSeries
from benchweb.runs.models import OPEN_STATES, Run

State = Alert.State


class _Suspicion(NamedTuple):
    """What would explain that pairs are bad: a host or an uplink, or what one of them sends, or receives."""

    cause: str
    end: str


def regroup_slot(run: Run) -> list[Alert]:
    """Move a slot's pairs to the alerts whose causes explain them, once the last of the slot's runs is judged.

    Return the alerts that were changed. Alerts that somebody acknowledged, or that began earlier, stay as they are.
    """
    runs = Run.objects.filter(campaign=run.campaign_id, pair__environment=run.pair.environment_id)
    is_waiting = runs.exclude(pk=run.pk).filter(has_figures=True, judgement__judged_at=None)
    if runs.filter(state__in=OPEN_STATES).exists() or is_waiting.exists():
        return []
    alerts = _alerts_of(runs)
    parts = AlertSeries.objects.filter(alert__in=alerts, recovered_run=None)
    bad = list(parts.select_related("alert", "series__pair__source__host", "series__pair__sink__host").order_by("pk"))
    by_pair: dict[int, list[AlertSeries]] = defaultdict(list)
    for part in bad:
        by_pair[part.series.pair_id].append(part)
    if len(by_pair) < 2:
        return []
    measured = Pair.objects.filter(runs__in=runs.filter(has_figures=True)).select_related("source__host", "sink__host")
    groups = pairs_by_cause(by_pair, measured.distinct())
    now = {
        frozenset(pair for pair, its in by_pair.items() if any(part.alert == alert for part in its)) for alert in alerts
    }
    if now == set(groups):
        return []
    return _regrouped(groups, by_pair)


def pairs_by_cause(bad: Collection[int], measured: Iterable[Pair]) -> list[frozenset[int]]:
    """Return the bad pairs, by their ids, in groups of one cause each: few causes that explain all, the largest first.

    A host, an uplink, or what it sends or receives, is a cause where half of its pairs that were measured are bad, and
    it explains more bad ones that nothing else does than it has good ones. What is left over are pairs of their own.
    """
    pairs = {pair.pk: pair for pair in measured}
    suspicions: dict[_Suspicion, set[int]] = defaultdict(set)
    for pair in pairs.values():
        for suspicion in _suspicions(pair):
            suspicions[suspicion].add(pair.pk)
    left = set(bad) & pairs.keys()
    groups = []
    while left:
        explained = max(
            (
                (len(concerned & left) - len(concerned - set(bad)), sorted(concerned & left))
                for concerned in suspicions.values()
                if len(concerned & left) > 1 and len(concerned & set(bad)) >= BAD_OF_HOST_SHARE * len(concerned)
            ),
            default=(0, []),
        )
        if explained[0] < 1:
            break
        groups.append(frozenset(explained[1]))
        left -= groups[-1]
    by_ends: dict[frozenset[int], set[int]] = defaultdict(set)
    for pair_id in sorted(left):
        by_ends[frozenset((pairs[pair_id].source_id, pairs[pair_id].sink_id))].add(pair_id)
    return [*groups, *map(frozenset, by_ends.values())]


def _suspicions(pair: Pair) -> set[_Suspicion]:
    sends, receives = pair.source.host, pair.sink.host
    found = {
        suspicion
        for host, end in ((sends, "source"), (receives, "sink"))
        for suspicion in (_Suspicion(f"host {host.pk}", ""), _Suspicion(f"host {host.pk}", end))
    }
    # Within one uplink no traffic of the pair leaves it.
    if sends.uplink != receives.uplink:
        found |= {_Suspicion(f"uplink {host.uplink}", "") for host in (sends, receives) if host.uplink}
    return found


def _alerts_of(runs: "Iterable[Run]") -> list[Alert]:
    """Lock and return the alerts that began with these runs, all of what lasts in them: nobody deals with them now."""
    parts = AlertSeries.objects.filter(alert=OuterRef("pk"), recovered_run=None)
    alerts = Alert.objects.filter(
        Exists(parts.filter(first_bad_run__in=runs)),
        ~Exists(parts.exclude(first_bad_run__in=runs)),
        kind=Alert.Kind.CHANGE,
        state__in=UNTRIAGED_STATES,
    )
    return list(alerts.select_for_update().order_by("pk"))


def _regrouped(groups: Sequence[frozenset[int]], by_pair: dict[int, list[AlertSeries]]) -> list[Alert]:
    """Move the parts so that each group has one alert: the one that has the most of it, or a new one.

    What people were told of stays the alert of most of its pairs; what is parted off from it is told by itself.
    """
    taken: dict[int, Alert] = {}
    parted: list[Alert] = []
    left = {part.alert_id: part.alert for its in by_pair.values() for part in its}
    kept = _kept_groups([alert_id for alert_id, each in left.items() if each.opened_at], groups, by_pair)
    for group in groups:
        parts = [part for pair_id in sorted(group) for part in by_pair[pair_id]]
        free = [part.alert_id for part in parts if part.alert_id not in taken]
        its = [alert_id for alert_id in free if kept.get(alert_id, group) == group]
        if its:
            home = _home_among([left[alert_id] for alert_id in its], parts)
            if home.opened_at is not None:
                _wait_no_more([part for part in parts if part.alert_id != home.pk])
            AlertSeries.objects.filter(pk__in=[part.pk for part in parts]).update(alert=home)
        else:
            whole = max(parts, key=lambda part: part.alert.opened_at is not None).alert
            home = part_off(whole, parts, state=State.SUSPECT)
            if whole.opened_at is not None:
                parted.append(home)
        taken[home.pk] = home
    for alert_id, alert in left.items():
        if alert_id not in taken and not alert.series.exists():
            alert.refresh_from_db()
            join_alert(alert, _home_of(by_pair, alert_id))
    for alert in taken.values():
        describe(alert)
    for alert in parted:
        transitions.move(alert.pk, State.OPEN)
    return list(taken.values())


def _kept_groups(
    alerts: Sequence[int], groups: Sequence[frozenset[int]], by_pair: dict[int, list[AlertSeries]]
) -> dict[int, frozenset[int]]:
    """Return the group that each alert keeps: that with the most of its pairs which no other alert has more of.

    Of equals the first group, which explains the most. An alert for which none is left keeps none.
    """
    its = {
        alert_id: {pair_id for pair_id, parts in by_pair.items() if any(part.alert_id == alert_id for part in parts)}
        for alert_id in alerts
    }
    choices = [(alert_id, group) for group in groups for alert_id in alerts if group & its[alert_id]]
    kept: dict[int, frozenset[int]] = {}
    for alert_id, group in sorted(choices, key=lambda choice: -len(choice[1] & its[choice[0]])):
        if alert_id not in kept and group not in kept.values():
            kept[alert_id] = group
    return kept


def _home_among(alerts: Sequence[Alert], parts: Sequence[AlertSeries]) -> Alert:
    """Return the alert that people were told of, which alone tells them of the end; else the one that has the most.

    What is measured again stays where its answer is waited for, unless people were told of another. The alerts are
    those of the parts, one for each part that it has.
    """
    waiting = {part.alert_id for part in parts if part.rerun_id is not None}
    count = Counter(alert.pk for alert in alerts)

    def weight(alert: Alert) -> tuple[bool, bool, int, int]:
        return alert.opened_at is not None, alert.pk in waiting, count[alert.pk], -alert.pk

    return max(alerts, key=weight)


def _wait_no_more(parts: Sequence[AlertSeries]) -> None:
    """Let any later run answer for parts that an alert takes which people know of, and free what waited for theirs."""
    waiting = [part for part in parts if part.rerun_id is not None and part.alert.state == State.CONFIRMING]
    AlertSeries.objects.filter(pk__in=[part.pk for part in waiting]).update(rerun=None)
    for alert_id in sorted({part.alert_id for part in waiting}):
        transitions.move(alert_id, State.SUSPECT, changes={"confirmation": None})


def _home_of(by_pair: dict[int, list[AlertSeries]], alert_id: int) -> Alert:
    """Return the alert that has now what an alert had."""
    first = next(part for its in by_pair.values() for part in its if part.alert_id == alert_id)
    return AlertSeries.objects.select_related("alert").get(pk=first.pk).alert
