"""The pairs of a mesh: every ordered pair of chosen endpoints, or source modes × sink modes of an environment."""

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

from django.db.models import Q, QuerySet

from benchweb.accounts.permissions import Place
from benchweb.common.names import name_key
from benchweb.hosts.belonging import places_paired, shared_environment
from benchweb.hosts.meshes import Ends, pairs_between, pairs_make
from benchweb.hosts.models import Endpoint, Environment, Pair
from benchweb.hosts.naming import name_holder

# The environment of a mesh that names none, unless all of its hosts are in one.
MESH_ENVIRONMENT = "mesh"


def mesh_pairs(mesh: Mapping[str, Any], *, make: bool) -> list[Pair]:
    """Return the mesh's pairs, archived ones too; those that are missing are made, or unsaved unless `make`."""
    ends = _by_endpoints(mesh) if "endpoints" in mesh else _by_modes(mesh)
    if not ends:
        return []
    endpoint_ids = {end.pk for both in ends for end in both}
    environment = _environment(mesh, endpoint_ids, make=make)
    pairs = pairs_between(ends, environment)
    missing = [pair for pair in pairs if not pair.pk]
    if not make or not missing:
        return pairs
    # Another slot may make the same ones at this moment.
    pairs_make(missing)
    return pairs_between(ends, environment)


def _by_endpoints(mesh: Mapping[str, Any]) -> Ends:
    return list(permutations(_endpoints().filter(pk__in=mesh["endpoints"]), 2))


def _by_modes(mesh: Mapping[str, Any]) -> Ends:
    """Return source modes × sink modes among the endpoints of the environment's pairs, between different hosts."""
    inside = Pair.objects.filter(environment=mesh["environment"], archived_at=None)
    endpoints = _endpoints().filter(Q(pk__in=inside.values("source")) | Q(pk__in=inside.values("sink")))
    sources = [end for end in endpoints if end.network_mode in mesh["source_modes"]]
    sinks = [end for end in endpoints if end.network_mode in mesh["sink_modes"]]
    return [(source, sink) for source in sources for sink in sinks if source.host_id != sink.host_id]


def _endpoints() -> QuerySet[Endpoint]:
    usable = Endpoint.objects.filter(archived_at=None, host__archived_at=None)
    return usable.select_related("host").order_by("pk")


def _environment(mesh: Mapping[str, Any], endpoint_ids: set[int], *, make: bool) -> Environment:
    """Return the environment asked for, the one that all of the hosts are in, or one named mesh."""
    if "environment" in mesh:
        return Environment.objects.get(pk=mesh["environment"])
    if (shared := shared_environment(endpoint_ids)) is not None:
        return shared
    if named := name_holder(Environment, MESH_ENVIRONMENT):
        return named
    if not make:
        return Environment(name=MESH_ENVIRONMENT)
    # Two slots that make it at once get the same one.
    called = {"name_key": name_key(MESH_ENVIRONMENT), "archived_at": None}
    return Environment.objects.get_or_create(**called, defaults={"name": MESH_ENVIRONMENT})[0]


def places_lacked(mesh: Mapping[str, Any]) -> Iterator[Place]:
    """Return where it takes the right to make pairs to run a mesh: nowhere when it has them all, and won't grow."""
    missing = [pair for pair in mesh_pairs(mesh, make=False) if not pair.pk]
    # A mesh of modes takes in each endpoint of its environment that is added later.
    if missing or "source_modes" in mesh:
        environment_id = missing[0].environment.pk if missing else mesh["environment"]
        yield from places_paired(environment_id, {end for pair in missing for end in (pair.source_id, pair.sink_id)})
