"""All that happened which may be why series fell: facts, plan versions, notes, maintenance, neighbours' load."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from django.db.models import F, Q
from django.utils.translation import gettext as _

from benchweb.annotations.models import Annotation
from benchweb.common.formatting import quantity
from benchweb.documents.references import Label, free_text, host_ref, plan_ref, uplink_ref, worded
from benchweb.hosts.facts.differences import FactDifference, changed_words
from benchweb.hosts.facts.fleet import ChangesWanted, EndpointFactsChange, changes_page
from benchweb.hosts.models import Host
from benchweb.plans.models import Plan
from benchweb.regressions.deciding import NEAR_RUNS
from benchweb.regressions.why.fallen import Fallen, PlanVersionSeen
from benchweb.regressions.why.neighbours import BusySpell, busy_spells
from benchweb.statistics.attribution import Exposure

# Of all hosts, of the time about the alert and of the time before each.
MOST_FACT_CHANGES = 1_000
MOST_NOTES = 200
# A host's endpoints tell the same change one after the other.
_SAME_CHANGE = timedelta(minutes=10).total_seconds()
_MOMENT = timedelta(minutes=1)

CauseKind = Literal["fact", "plan", "note", "maintenance", "load"]


class MaintenanceSpan(NamedTuple):
    """A maintenance window with when it began, of hosts or of an environment."""

    name: str
    begins_at: datetime
    hosts: dict[int, str]
    environment_id: int | None


@dataclass(frozen=True)
class PossibleCause:
    """Something that happened to hosts or pairs, once or at several times: whether it is why is for people to say."""

    kind: CauseKind
    words: Label
    exposures: list[Exposure] = field(default_factory=list)
    # The hosts that it happened to, by id.
    hosts: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Happenings:
    """What happened in the time looked at, whoever it happened to; what touches no pair is left out."""

    causes: list[PossibleCause]
    # There was more than is read; what happened about the alert is read first.
    is_cut: bool


def possible_causes(fallen: Fallen, maintenance: Sequence[MaintenanceSpan] = ()) -> Happenings:
    """Return all that happened; some fifteen queries."""
    changes, is_cut = _fact_changes(fallen)
    found = [*_facts(fallen, changes), *_plan_versions(fallen), *_notes(fallen), *_maintenance(fallen, maintenance)]
    found += _neighbours(fallen)
    return Happenings([cause for cause in found if cause.exposures], is_cut)


def _fact_changes(fallen: Fallen) -> tuple[list[EndpointFactsChange], bool]:
    """Return changes, those about the alert in full first: a fleet that reboots nightly has more than can be read."""
    first, last = fallen.span
    begin, end = _about_alert(fallen)
    spans = [(begin, end + _MOMENT), (first, begin), (end + _MOMENT, last + _MOMENT)]
    pages = [
        changes_page(ChangesWanted(first=since, last=until), most=MOST_FACT_CHANGES)
        for since, until in spans
        if since < until
    ]
    return [change for page in pages for change in page.changes], any(page.following for page in pages)


def _about_alert(fallen: Fallen) -> tuple[datetime, datetime]:
    """Return from when to when something is near the alert: so few runs before and since, by each of its pairs."""
    times = []
    for unit, begun in fallen.begun.items():
        course = fallen.panel.courses[unit]
        place = course.place(begun.timestamp())
        times += [
            course.times[max(0, place - NEAR_RUNS - 1)],
            course.times[min(len(course.times) - 1, place + NEAR_RUNS)],
        ]
    first, last = fallen.span
    return max(first, datetime.fromtimestamp(min(times), UTC)), min(last, datetime.fromtimestamp(max(times), UTC))


def _facts(fallen: Fallen, changes: Iterable[EndpointFactsChange]) -> Iterable[PossibleCause]:
    """Yield a cause for each value that a fact took on: hosts that took it from another one are put together."""
    alike: dict[tuple[str, str, str], list[tuple[float, int, str, FactDifference]]] = defaultdict(list)
    for change in changes:
        host = change.endpoint.host
        for difference in change.differences:
            value = difference.words if difference.after is None else str(difference.after)
            key = (difference.fact, difference.key, value)
            alike[key].append((change.place.at.timestamp(), host.pk, host.name, difference))
    for turns in alike.values():
        cause = PossibleCause("fact", free_text(changed_words([difference for *_turn, difference in turns])))
        latest: dict[int, float] = {}
        for at, host_id, name, _difference in sorted(turns, key=lambda turn: turn[:2]):
            units = fallen.units_of_host(host_id)
            is_same = at - latest.get(host_id, float("-inf")) <= _SAME_CHANGE
            latest[host_id] = at
            if units and not is_same:
                cause.exposures.append(Exposure(at, host_id, units))
                cause.hosts[host_id] = name
        yield cause


def _plan_versions(fallen: Fallen) -> Iterable[PossibleCause]:
    """Yield a cause for each version of a plan that followed an older one on a pair; a re-run of an old one is none."""
    latest: dict[tuple[int, int], int] = {}
    begun: dict[tuple[int, int], list[PlanVersionSeen]] = defaultdict(list)
    for seen in fallen.versions:
        before = latest.get((seen.pair_id, seen.plan_id))
        if before is not None and before < seen.number:
            begun[seen.plan_id, seen.number].append(seen)
        latest[seen.pair_id, seen.plan_id] = max(seen.number, before or 0)
    names = Plan.objects.in_bulk({plan_id for plan_id, _number in begun}) if begun else {}
    for (plan_id, number), pairs in sorted(begun.items()):
        words = Label(plan_ref(names[plan_id].name), " · ", _("version {number}").format(number=number))
        exposures = [Exposure(seen.ended_at.timestamp(), None, fallen.units_of({seen.pair_id})) for seen in pairs]
        yield PossibleCause("plan", words, exposures)


def _notes(fallen: Fallen) -> Iterable[PossibleCause]:
    """Yield a cause for each note that was written before the alert: one that was written of it explains nothing."""
    first, last = fallen.span
    hosts = {host for pair in fallen.pairs for host in pair.hosts}
    concerned = Q(host=None, pair=None) | Q(host__in=hosts) | Q(pair__in=[pair.pair_id for pair in fallen.pairs])
    notes = Annotation.objects.filter(concerned, archived_at=None, at__range=(first, last))
    written = notes.filter(created_at__lte=max(fallen.begun.values())).annotate(host_name=F("host__name"))
    for note in written.order_by("-at", "-pk")[:MOST_NOTES]:
        units = frozenset(
            unit
            for unit, pair in enumerate(fallen.pairs)
            if (note.host_id is None or note.host_id in pair.hosts)
            and note.environment_id in (None, pair.environment_id)
            and note.pair_id in (None, pair.pair_id)
        )
        if units:
            exposure = Exposure(note.at.timestamp(), note.host_id, units)
            yield PossibleCause(
                "note", free_text(note.text), [exposure], {note.host_id: note.host_name} if note.host_id else {}
            )


def _maintenance(fallen: Fallen, spans: Iterable[MaintenanceSpan]) -> Iterable[PossibleCause]:
    """Yield a cause for each window: what is worked on is another host when it comes back, or path."""
    for span in spans:
        at = span.begins_at.timestamp()
        words = Label(_("maintenance"), ": ", free_text(span.name))
        if span.environment_id is not None:
            units = frozenset(
                unit for unit, pair in enumerate(fallen.pairs) if pair.environment_id == span.environment_id
            )
            yield PossibleCause("maintenance", words, [Exposure(at, None, units)] if units else [])
            continue
        exposures = [Exposure(at, host, units) for host in span.hosts if (units := fallen.units_of_host(host))]
        hosts = {exposure.cluster: span.hosts[exposure.cluster] for exposure in exposures if exposure.cluster}
        yield PossibleCause("maintenance", words, exposures, hosts)


def _neighbours(fallen: Fallen) -> Iterable[PossibleCause]:
    """Yield a cause for each host that carried far more than usual about then: it came to the others on its uplink.

    Its own pairs are left out: what it carried may be what they measured. So is who was busy at other times alone:
    hundreds of hosts are, now and then, and none of that is weighed.
    """
    spells: dict[int, list[BusySpell]] = defaultdict(list)
    for spell in busy_spells({host for pair in fallen.pairs for host in pair.hosts}, *fallen.span):
        spells[spell.host_id].append(spell)
    sharing = Host.objects.filter(uplink__in={turns[0].uplink for turns in spells.values()})
    uplinks = dict(sharing.values_list("pk", "uplink"))
    for host_id, turns in spells.items():
        others = {host for host, uplink in uplinks.items() if uplink == turns[0].uplink}
        units = frozenset(
            unit for unit, pair in enumerate(fallen.pairs) if pair.hosts & others and host_id not in pair.hosts
        )
        nearest = min(turns, key=lambda spell: abs(spell.begins_at - fallen.begun_at))
        exposures = [Exposure(spell.begins_at.timestamp(), None, units) for spell in turns]
        if any(is_near(exposure, fallen) for exposure in exposures):
            yield PossibleCause("load", _load_words(nearest), exposures)


def _load_words(spell: BusySpell) -> Label:
    return worded(
        _("load of {host} on uplink {uplink}: {most} sent and received, usually {usual} or less at that hour"),
        host=host_ref(spell.host_id, spell.host),
        uplink=uplink_ref(spell.uplink),
        most=str(quantity(spell.most_bps, "bit/s")),
        usual=str(quantity(spell.usual_bps, "bit/s")),
    )


def is_near(exposure: Exposure, fallen: Fallen) -> bool:
    """Tell whether something came few runs from the alert's beginning, by the runs of the units exposed."""
    courses = fallen.panel.courses
    return any(
        abs(courses[unit].place(exposure.at) - courses[unit].place(begun.timestamp())) <= NEAR_RUNS
        for unit in exposure.units
        for begun in [fallen.begun.get(unit, fallen.begun_at)]
    )
