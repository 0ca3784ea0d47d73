"""Judge the causes of a slot anew once all of its pairs are judged: which hosts explain the most that is bad in it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q

from benchweb.hosts.models import Pair
from benchweb.regressions import transitions
from benchweb.regressions.deciding import BAD_OF_HOST_SHARE
from benchweb.regressions.judging.causes import common_causes, common_host
from benchweb.regressions.judging.grouping import describe, fell_alike
from benchweb.regressions.judging.parts import join_alert, part_off
from benchweb.regressions.models import UNTRIAGED_STATES, Alert, AlertSeries
from benchweb.runs.models import OPEN_STATES, Run

State = Alert.State
# Of more parts of alerts, a network's fault, the pairs alone tell the causes.
_MOST_COMPARED = 2_000


class _Suspicion(NamedTuple):
    """What would explain that pairs are bad: a host or an uplink, or what one of them sends, or receives."""

    cause: str
    end: str


class _Explained(NamedTuple):
    """Bad pairs that one cause explains, by their ids, and all measured ones that it would make bad."""

    pairs: frozenset[int]
    concerned: frozenset[int]


def regroup_slot(run: Run) -> list[Alert]:
    """Move what a slot found to the alerts whose causes explain it, once the last of the slot's runs is judged.

    Return the alerts that were changed. Alerts that somebody acknowledged, or that people knew of before the slot, stay
    as they are, and so does what began before.
    """
    runs = Run.objects.filter(campaign=run.campaign_id, pair__environment=run.pair.environment_id)
    is_waiting = runs.exclude(pk=run.pk).filter(has_figures=True, judgement__judged_at=None)
    if runs.filter(state__in=OPEN_STATES).exists() or is_waiting.exists():
        return []
    alerts = _alerts_of(runs, run.campaign.created_at)
    parts = AlertSeries.objects.filter(alert__in=alerts, recovered_run=None, first_bad_run__in=runs)
    bad = list(parts.select_related("alert", "series__pair__source__host", "series__pair__sink__host").order_by("pk"))
    if len({part.series.pair_id for part in bad}) < 2:
        return []
    measured = Pair.objects.filter(runs__in=runs.filter(has_figures=True)).select_related("source__host", "sink__host")
    groups = parts_by_cause(bad, list(measured.distinct()))
    now = {frozenset(part.pk for part in bad if part.alert == alert) for alert in alerts}
    if now == {frozenset(part.pk for part in group) for group in groups}:
        return []
    return _regrouped(groups)


def parts_by_cause(bad: Sequence[AlertSeries], measured: Collection[Pair]) -> list[list[AlertSeries]]:
    """Return what is bad in groups of one cause each, the largest first; parts and pairs come with their hosts.

    What pairs have in common tells the causes. A pair that several of them concern, as it leads from the one host to
    the other, may suffer from each in another measure: each of its parts goes with the cause the most of whose pairs
    show the same.
    """
    explained = _explained({part.series.pair_id for part in bad}, measured)
    of_measure: dict[tuple[str, str], dict[int, list[AlertSeries]]] = defaultdict(lambda: defaultdict(list))
    for part in bad:
        of_measure[part.series.kind, part.series.metric][part.series.pair_id].append(part)
    homes = {pair_id: cause for cause in explained for pair_id in cause.pairs}
    others: dict[int, list[_Explained]] = defaultdict(list)
    for cause in explained:
        for pair_id in cause.concerned - cause.pairs:
            others[pair_id].append(cause)
    groups: dict[_Explained, list[AlertSeries]] = {cause: [] for cause in explained}
    for part in bad:
        home = homes.get(part.series.pair_id)
        if home is None:
            continue
        its = [home, *others[part.series.pair_id]]
        if len(its) > 1 and len(bad) <= _MOST_COMPARED:
            same = of_measure[part.series.kind, part.series.metric]
            # Of equals the first, which explains the pair.
            home = max(its, key=partial(_share_alike, part=part, same=same))
        groups[home].append(part)
    return [group for group in groups.values() if group]


def _share_alike(cause: _Explained, part: AlertSeries, same: Mapping[int, Sequence[AlertSeries]]) -> float:
    """Return of how large a share of a cause's pairs a part of the same measure, by pairs, fell alike."""
    alike = sum(any(fell_alike(each, part) for each in same.get(pair_id, ())) for pair_id in cause.concerned)
    return alike / len(cause.concerned)


def pairs_by_cause(bad: Collection[int], measured: Collection[Pair]) -> list[frozenset[int]]:
    """Return the bad pairs, by their ids, in groups of one cause each: few causes that explain all, the largest first.

    A host, an uplink, or what it sends or receives, is a cause where half of its pairs that were measured are bad, and
    it explains more bad ones that nothing else does than it has good ones. What is left over are pairs of their own.
    """
    return [cause.pairs for cause in _explained(bad, measured)]


def _explained(bad: Collection[int], measured: Collection[Pair]) -> list[_Explained]:
    pairs = {pair.pk: pair for pair in measured}
    all_bad = frozenset(bad)
    suspicions: dict[_Suspicion, set[int]] = defaultdict(set)
    for pair in pairs.values():
        for suspicion in _suspicions(pair):
            suspicions[suspicion].add(pair.pk)
    left = set(all_bad & pairs.keys())
    causes = []
    while left:
        score, explained, concerned = max(
            (
                (len(concerned & left) - len(concerned - all_bad), sorted(concerned & left), sorted(concerned))
                for concerned in suspicions.values()
                if len(concerned & left) > 1 and len(concerned & all_bad) >= BAD_OF_HOST_SHARE * len(concerned)
            ),
            default=(0, [], []),
        )
        if score < 1:
            break
        causes.append(_Explained(frozenset(explained), frozenset(concerned)))
        left -= causes[-1].pairs
    by_ends: dict[frozenset[int], set[int]] = defaultdict(set)
    for pair_id in sorted(left):
        by_ends[frozenset((pairs[pair_id].source_id, pairs[pair_id].sink_id))].add(pair_id)
    alone = map(frozenset, by_ends.values())
    return [*causes, *(_Explained(pairs=ids, concerned=ids) for ids in alone)]


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


def _alerts_of(runs: "Iterable[Run]", launched_at: datetime) -> list[Alert]:
    """Lock and return the alerts of what began with these runs: nobody deals with them, nor knew of them before."""
    parts = AlertSeries.objects.filter(alert=OuterRef("pk"), recovered_run=None)
    alerts = Alert.objects.filter(
        Q(opened_at=None) | Q(opened_at__gte=launched_at),
        Exists(parts.filter(first_bad_run__in=runs)),
        kind=Alert.Kind.CHANGE,
        state__in=UNTRIAGED_STATES,
    )
    return list(alerts.select_for_update().order_by("pk"))


def _regrouped(groups: Sequence[Sequence[AlertSeries]]) -> list[Alert]:
    """Move the parts so that each group has one alert: the one that has the most of it, or a new one.

    What people were told of stays the alert of the host that they were told, else of most of its pairs; what is parted
    off from it is told by itself.
    """
    taken: dict[int, Alert] = {}
    parted: list[Alert] = []
    left = {part.alert_id: part.alert for group in groups for part in group}
    older = _with_older_parts([part for group in groups for part in group])
    kept = _kept_groups([alert for alert in left.values() if alert.opened_at], groups)
    for number, parts in enumerate(groups):
        free = [part.alert_id for part in parts if part.alert_id not in taken and part.alert_id not in older]
        its = [alert_id for alert_id in free if kept.get(alert_id, number) == number]
        if its:
            home = _home_among([left[alert_id] for alert_id in its], parts)
            AlertSeries.objects.filter(pk__in=[part.pk for part in parts]).update(alert=home)
        else:
            whole = max(parts, key=lambda part: part.alert.opened_at is not None).alert
            home = part_off(whole, parts, state=State.SUSPECT)
            if whole.opened_at is not None:
                parted.append(home)
        _wait_no_more([part for part in parts if part.alert_id != home.pk], home)
        taken[home.pk] = home
    for alert_id, alert in left.items():
        if alert_id not in taken and not alert.series.filter(recovered_run=None).exists():
            alert.refresh_from_db()
            join_alert(alert, _home_of(groups, alert_id))
        elif alert_id not in taken:
            taken[alert_id] = alert
    for alert in taken.values():
        describe(alert)
    for alert in parted:
        transitions.move(alert.pk, State.OPEN)
    return list(taken.values())


def _with_older_parts(parts: Sequence[AlertSeries]) -> set[int]:
    """Return the alerts of parts that nobody was told of and that have what began before: that stays by itself."""
    others = AlertSeries.objects.exclude(pk__in=[part.pk for part in parts]).filter(recovered_run=None)
    untold = {part.alert_id for part in parts if part.alert.opened_at is None}
    return set(others.filter(alert__in=untold).values_list("alert", flat=True))


def _kept_groups(alerts: Sequence[Alert], groups: Sequence[Sequence[AlertSeries]]) -> dict[int, int]:
    """Return the place of the group that each alert keeps.

    It is that of the host which the alert names, else that with the most of its pairs which no other alert has more of;
    of equals the first one, which explains the most. An alert for which none is left keeps none.
    """
    choices = []
    for number, group in enumerate(groups):
        host_id = common_host(common_causes([part.series.pair for part in group]))
        for alert in alerts:
            pairs = {part.series.pair_id for part in group if part.alert_id == alert.pk}
            if pairs:
                is_named = host_id is not None and alert.host_id == host_id
                choices.append((not is_named, -len(pairs), number, alert.pk))
    kept: dict[int, int] = {}
    for _is_other, _pairs, number, alert_id in sorted(choices):
        if alert_id not in kept and number not in kept.values():
            kept[alert_id] = number
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


def _wait_no_more(moved: Sequence[AlertSeries], home: Alert) -> None:
    """Let parts that went to another alert wait for no re-run of their former one: nobody would answer for them.

    Any later run does, and what none of an alert's parts waits for any more doesn't hold that alert up.
    """
    waiting = [part for part in moved if part.rerun_id is not None and part.alert.state == State.CONFIRMING]
    others = AlertSeries.objects.filter(pk__in=[part.pk for part in waiting])
    others.exclude(rerun__campaign=home.confirmation_id).update(rerun=None)
    for alert_id in sorted({part.alert_id for part in waiting}):
        if not AlertSeries.objects.filter(alert=alert_id, rerun__campaign=F("alert__confirmation")).exists():
            transitions.move(alert_id, State.SUSPECT, changes={"confirmation": None})


def _home_of(groups: Sequence[Sequence[AlertSeries]], alert_id: int) -> Alert:
    """Return the alert that has now what an alert had."""
    first = next(part for group in groups for part in group if part.alert_id == alert_id)
    return AlertSeries.objects.select_related("alert").get(pk=first.pk).alert
