"""All that happened which may be why series fell: facts of hosts, plan versions, notes; each with where and when."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from django.utils.translation import gettext as _

from benchweb.annotations.selectors import annotations_between
from benchweb.documents.references import Label, free_text, plan_ref
from benchweb.hosts.facts.differences import FactDifference, changed_words
from benchweb.hosts.facts.fleet import ChangesWanted, changes_page
from benchweb.plans.models import Plan
from benchweb.regressions.why.fallen import Fallen, PlanVersionSeen
from benchweb.statistics.attribution import Exposure

# Of all hosts in three months; of more the newest.
MOST_FACT_CHANGES = 1_000

CauseKind = Literal["fact", "plan", "note"]


@dataclass(frozen=True)
class PossibleCause:
    """Something that happened to hosts or pairs, once or at several times: whether it is why is for people to say."""

    kind: CauseKind
    words: Label
    exposures: list[Exposure] = field(default_factory=list)
    # The hosts that it happened to, by id.
    hosts: dict[int, str] = field(default_factory=dict)


def possible_causes(fallen: Fallen) -> list[PossibleCause]:
    """Return what happened in the time that is looked at, whoever it happened to; what touches no pair is left out."""
    found = [*_facts(fallen), *_plan_versions(fallen), *_notes(fallen)]
    return [cause for cause in found if cause.exposures]


def _facts(fallen: Fallen) -> Iterable[PossibleCause]:
    """Yield a cause for each value that a fact took on: hosts that took it from another one are put together."""
    changes = changes_page(ChangesWanted(first=fallen.first, last=fallen.last), most=MOST_FACT_CHANGES).changes
    alike: dict[tuple[str, str, str], dict[int, tuple[float, str, FactDifference]]] = defaultdict(dict)
    for change in changes:
        host = change.endpoint.host
        for difference in change.differences:
            value = difference.words if difference.after is None else str(difference.after)
            key = (difference.fact, difference.key, value)
            # Newest first: what a host's endpoints told last is replaced by what one of them told first.
            alike[key][host.pk] = (change.place.at.timestamp(), host.name, difference)
    for by_host in alike.values():
        words = changed_words([difference for _at, _name, difference in by_host.values()])
        cause = PossibleCause("fact", free_text(words))
        for host_id, (at, name, _difference) in sorted(by_host.items()):
            if units := fallen.units_of_host(host_id):
                cause.exposures.append(Exposure(at, host_id, units))
                cause.hosts[host_id] = name
        yield cause


def _plan_versions(fallen: Fallen) -> Iterable[PossibleCause]:
    """Yield a cause for each version of a plan that came after another on a pair."""
    latest: dict[tuple[int, int], int] = {}
    begun: dict[tuple[int, int], dict[int, PlanVersionSeen]] = defaultdict(dict)
    for seen in fallen.versions:
        before = latest.get((seen.pair_id, seen.plan_id))
        if before is not None and before != seen.number:
            begun[seen.plan_id, seen.number].setdefault(seen.pair_id, seen)
        latest[seen.pair_id, seen.plan_id] = seen.number
    names = Plan.objects.in_bulk({plan_id for plan_id, _number in begun}) if begun else {}
    for (plan_id, number), by_pair in sorted(begun.items()):
        words = Label(plan_ref(names[plan_id].name), " · ", _("version {number}").format(number=number))
        at = min(seen.ended_at for seen in by_pair.values()).timestamp()
        yield PossibleCause("plan", words, [Exposure(at, None, fallen.units_of(by_pair))])


def _notes(fallen: Fallen) -> Iterable[PossibleCause]:
    environments = {pair.environment_id for pair in fallen.pairs}
    hosts = {host for pair in fallen.pairs for host in pair.hosts}
    pairs = {pair.pair_id for pair in fallen.pairs}
    notes = annotations_between(fallen.first, fallen.last, environments=environments, hosts=hosts, pairs=pairs)
    for note in notes:
        concerned = [
            pair
            for pair in fallen.pairs
            if note.host_id in (None, *pair.hosts)
            and note.environment_id in (None, pair.environment_id)
            and note.pair_id in (None, pair.pair_id)
        ]
        units = fallen.units_of({pair.pair_id for pair in concerned})
        if units:
            exposure = Exposure(note.at.timestamp(), note.host_id, units)
            hosts_named = {note.host_id: note.subject} if note.host_id else {}
            yield PossibleCause("note", free_text(note.text), [exposure], hosts_named)


def near_exposures(cause: PossibleCause, fallen: Fallen, most_runs: int) -> Sequence[Exposure]:
    """Return a cause's exposures so few runs from the alert's beginning, by the runs of the pairs exposed."""
    begun, courses = fallen.begun_at.timestamp(), fallen.panel.courses
    return [
        exposure
        for exposure in cause.exposures
        if any(
            abs(courses[unit].place(exposure.at) - courses[unit].place(begun)) <= most_runs for unit in exposure.units
        )
    ]
