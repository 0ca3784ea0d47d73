"""Many pairs at once: each endpoint to each other, or a hub to its spokes and back."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import permutations

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from benchweb.hosts.belonging import hosts_enter
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Endpoint, Environment, Pair

MAXIMUM_ENDPOINTS = 500
MAXIMUM_PAIRS = 40_000
_BATCH = 2_000

Ends = Sequence[tuple[Endpoint, Endpoint]]


@dataclass(frozen=True)
class Mesh:
    """The pairs of a mesh in its environment: those in use, by id, those that were archived, and the missing ones."""

    pairs: list[Pair]
    archived: list[Pair]
    missing: list[Pair]
    # Left out, for traffic within a host measures no network.
    within_hosts: int


def mesh_of(
    *, endpoints: Collection[Endpoint], environment: Environment, hub: Endpoint | None = None, both: bool = True
) -> Mesh:
    """Return the pairs of a mesh, or of a hub with its spokes; nothing is made. One query."""
    ends = _ends(endpoints, hub, both=both)
    between = [(source, sink) for source, sink in ends if source.host_id != sink.host_id]
    if len(between) > MAXIMUM_PAIRS:
        raise HostsError(
            "endpoints",
            _("{count} pairs are too many; at most {most} are possible: choose fewer endpoints.").format(
                count=f"{len(between):,}", most=f"{MAXIMUM_PAIRS:,}"
            ),
        )
    if not between:
        raise HostsError("endpoints", _("Choose endpoints of at least two hosts."))
    pairs = pairs_between(between, environment)
    return Mesh(
        pairs=sorted((pair for pair in pairs if pair.pk and pair.archived_at is None), key=lambda pair: pair.pk),
        archived=[pair for pair in pairs if pair.archived_at is not None],
        missing=[pair for pair in pairs if not pair.pk],
        within_hosts=len(ends) - len(between),
    )


def mesh_make(mesh: Mesh) -> list[Pair]:
    """Make the missing pairs, and return all that are in use now by id, whoever made them; archived ones stay so."""
    if not mesh.missing:
        return mesh.pairs
    pairs_make(mesh.missing)
    made = pairs_between([(pair.source, pair.sink) for pair in mesh.missing], mesh.missing[0].environment)
    return sorted([*mesh.pairs, *made], key=lambda pair: pair.pk)


def pairs_between(ends: Ends, environment: Environment) -> list[Pair]:
    """Return the pair with each of these ends, archived ones too; those that are missing are unsaved. One query."""
    endpoint_ids = {end.pk for both in ends for end in both}
    # An archived pair was taken out by somebody: it isn't made anew behind their back.
    live_last = F("archived_at").asc(nulls_last=True)
    among = Pair.objects.filter(source__in=endpoint_ids, sink__in=endpoint_ids, environment=environment.pk)
    known = {(pair.source_id, pair.sink_id): pair for pair in among.order_by(live_last)}
    pairs = []
    for source, sink in ends:
        pair = known.get((source.pk, sink.pk)) or Pair()
        # What is at hand already is not queried again, forty thousand times.
        pair.source, pair.sink, pair.environment = source, sink, environment
        pairs.append(pair)
    return pairs


def pairs_chosen(
    *, endpoint_ids: Sequence[int], environment_id: int, hub_id: int | None = None, both: bool = True
) -> list[int]:
    """Return the ids of the pairs in use that a mesh of these has, or a hub with its spokes; one query."""
    ids = {*endpoint_ids, *([hub_id] if hub_id else [])}
    pairs = Pair.objects.filter(environment=environment_id, source__in=ids, sink__in=ids, archived_at=None)
    if hub_id:
        pairs = pairs.filter(Q(source=hub_id) | Q(sink=hub_id) if both else Q(source=hub_id))
    return list(pairs.exclude(source__host=F("sink__host")).order_by("pk").values_list("pk", flat=True))


@transaction.atomic(savepoint=False)
def pairs_make(missing: Collection[Pair]) -> None:
    """Save pairs, all in one environment, but those that somebody else makes at this moment."""
    for environment_id in {pair.environment_id for pair in missing}:
        hosts_enter(environment_id, {end for pair in missing for end in (pair.source_id, pair.sink_id)})
    Pair.objects.bulk_create(missing, batch_size=_BATCH, ignore_conflicts=True)


def _ends(endpoints: Collection[Endpoint], hub: Endpoint | None, *, both: bool) -> Ends:
    distinct = sorted({end.pk: end for end in endpoints}.values(), key=lambda end: end.pk)
    if len(distinct) > MAXIMUM_ENDPOINTS:
        raise HostsError(
            "endpoints",
            _("{count} endpoints are too many; at most {most} are possible.").format(
                count=f"{len(distinct):,}", most=MAXIMUM_ENDPOINTS
            ),
        )
    for end in [*distinct, *([hub] if hub else [])]:
        archived = next((row for row in (end, end.host) if row.archived_at is not None), None)
        if archived is not None:
            raise HostsError("endpoints", _("{row} is archived: restore it, or choose another.").format(row=archived))
    if hub is None:
        return list(permutations(distinct, 2))
    spokes = [end for end in distinct if end.pk != hub.pk]
    outward = [(hub, spoke) for spoke in spokes]
    return [*outward, *((spoke, hub) for spoke in spokes)] if both else outward
