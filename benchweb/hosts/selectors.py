"""Read hosts, endpoints, environments and pairs for lists and pages."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db.models import Count, Prefetch, Q, QuerySet

from benchweb.common.names import name_key, searched, stored_name
from benchweb.common.rows import fetch
from benchweb.hosts.models import Endpoint, Environment, Facts, Host, Pair
from benchweb.labels import with_label

# In the address: whatever does not answer as an engine should.
SILENT = "silent"
SILENT_STATUSES = (Endpoint.Status.UNREACHABLE, Endpoint.Status.REFUSED)
# In the address: a test on such a pair fails, or shows something else than the path could carry.
FAULTY = "faulty"
FAULTY_PATHS = (Pair.Path.BLOCKED, Pair.Path.NARROW)
# The hosts in use, each with its endpoints in use. Synthetic ones are never asked. A host is healthy when all answer.
_COUNTS = """
SELECT count(DISTINCT h.id) FILTER (WHERE NOT h.is_synthetic) AS all,
  count(DISTINCT h.id) FILTER (WHERE e.id IS NOT NULL AND NOT h.is_synthetic)
    - count(DISTINCT h.id) FILTER (WHERE e.status <> %(answered)s AND NOT h.is_synthetic) AS healthy,
  count(DISTINCT h.id) FILTER (WHERE e.status <> %(unknown)s AND NOT h.is_synthetic) AS checked,
  count(DISTINCT h.id) FILTER (WHERE e.id IS NULL AND NOT h.is_synthetic) AS bare,
  count(DISTINCT h.id) FILTER (WHERE h.is_synthetic) AS synthetic,
  EXISTS (SELECT FROM hosts_pair WHERE archived_at IS NULL) AS has_pair,
  (SELECT count(*) FROM hosts_pair WHERE archived_at IS NULL AND path_status = ANY(%(faulty)s)) AS faulty_paths,
  coalesce(jsonb_agg(jsonb_build_object(
    'host', h.name, 'host_id', h.id, 'name', e.name, 'network_mode', e.network_mode, 'status', e.status,
    'reason', e.status_reason, 'reason_data', e.status_reason_data, 'since', coalesce(e.unreachable_since, e.checked_at)
  ) ORDER BY h.name, e.id) FILTER (WHERE e.status = ANY(%(silent)s)), '[]') AS silent
FROM hosts_host h LEFT JOIN hosts_endpoint e ON e.host_id = h.id AND e.archived_at IS NULL
WHERE h.archived_at IS NULL
"""


class HostCounts(NamedTuple):
    """How many hosts there are and are healthy, whether there is a pair, and the endpoints that don't answer."""

    # Of real ones; synthetic hosts are counted apart, for nothing checks them.
    all: int
    healthy: int
    # With an endpoint that was checked, and without any endpoint.
    checked: int
    bare: int
    synthetic: int
    has_pair: bool
    # Pairs whose data path is blocked, or loses large packets.
    faulty_paths: int
    # Each with host, host_id, name, network_mode, status, reason and since when (ISO 8601), by the host's name.
    silent: list[dict[str, Any]]

    @property
    def unchecked(self) -> int:
        """Return how many hosts have endpoints of which none was ever checked."""
        return self.all - self.checked - self.bare


def host_counts() -> HostCounts:
    """Return how many hosts are in use and healthy, and the silent endpoints."""
    status = Endpoint.Status
    values = {
        "answered": status.ANSWERED.value,
        "unknown": status.UNKNOWN.value,
        "silent": [status.value for status in SILENT_STATUSES],
        "faulty": [status.value for status in FAULTY_PATHS],
    }
    (counts,) = fetch(HostCounts, _COUNTS, values)
    return counts


def faulty_paths(*, most: int) -> list[Pair]:
    """Return the first pairs in use whose data path is at fault; one query."""
    faulty = Pair.objects.filter(archived_at=None, path_status__in=FAULTY_PATHS)
    return list(faulty.select_related("source__host", "sink__host").order_by("pk")[:most])


def hosts_matching(
    *, text: str = "", label: str = "", status: str = "", network_mode: str = "", archived: bool = False
) -> QuerySet[Host]:
    """Return hosts by part of a name or an address, by label, by the state and the network mode of their endpoints."""
    endpoints = Endpoint.objects.filter(archived_at=None)
    if status:
        endpoints = endpoints.filter(status__in=SILENT_STATUSES if status == SILENT else [status])
    if network_mode:
        endpoints = endpoints.filter(network_mode=stored_name(network_mode))
    hosts = Host.objects.filter(archived_at__isnull=not archived)
    if label:
        hosts = with_label(hosts, label)
    if status or network_mode:
        hosts = hosts.filter(pk__in=endpoints.values("host"))
    if text := searched(text):
        addresses = Q(control_address__icontains=text) | Q(data_address__icontains=text) | Q(name__icontains=text)
        labelled = Q(labels__contains=[text]) | Q(uplink__icontains=text)
        by_endpoint = Endpoint.objects.filter(addresses).values("host")
        hosts = hosts.filter(_is_called(text) | Q(description__icontains=text) | Q(pk__in=by_endpoint) | labelled)
    endpoints = Endpoint.objects.select_related("host").order_by("pk")
    return hosts.prefetch_related(
        Prefetch("endpoints", queryset=endpoints if archived else endpoints.filter(archived_at=None))
    )


def network_modes() -> list[str]:
    """Return the network modes in use, for a filter."""
    return list(Endpoint.objects.order_by("network_mode").values_list("network_mode", flat=True).distinct())


def uplinks_in_use() -> list[str]:
    """Return the uplinks that hosts name, for a choice; one query."""
    uplinks = Host.objects.exclude(uplink="").order_by("uplink")
    return list(uplinks.values_list("uplink", flat=True).distinct())


def latest_facts(*, endpoints: Iterable[Endpoint]) -> dict[int, Facts]:
    """Return each endpoint's latest facts by endpoint id; one query."""
    rows = Facts.objects.filter(endpoint__in=[endpoint.pk for endpoint in endpoints])
    return {facts.endpoint_id: facts for facts in rows.order_by("endpoint_id", "-last_seen_at").distinct("endpoint_id")}


def facts_seen(*, endpoints: Iterable[Endpoint], most: int = 60) -> list[Facts]:
    """Return the endpoints' facts, the latest first; one query."""
    rows = Facts.objects.filter(endpoint__in=[endpoint.pk for endpoint in endpoints])
    return list(rows.order_by("-last_seen_at", "-pk")[:most])


def endpoints_usable() -> QuerySet[Endpoint]:
    """Return the endpoints that a new pair may use."""
    usable = Endpoint.objects.filter(archived_at=None, host__archived_at=None)
    return usable.select_related("host").order_by("host__name", "pk")


def pairs_matching(
    *,
    text: str = "",
    environment: int | None = None,
    status: str = "",
    path: str = "",
    host: int | None = None,
    endpoint: Endpoint | None = None,
    label: str = "",
    archived: bool = False,
) -> QuerySet[Pair]:
    """Return pairs by part of a host's or environment's name or an address, by environment, host, label and states."""
    pairs = Pair.objects.filter(archived_at__isnull=not archived)
    if text := searched(text):
        pairs = pairs.filter(
            _end_matches("name", text)
            | _end_matches("data_address", text)
            | _is_called(text, "environment__")
            | _is_called(text, "source__host__")
            | _is_called(text, "sink__host__")
            | Q(labels__contains=[text])
        )
    if label:
        pairs = with_label(pairs, label)
    if environment is not None:
        pairs = pairs.filter(environment=environment)
    if status:
        pairs = pairs.filter(Q(source__status=status) | Q(sink__status=status))
    if path:
        pairs = pairs.filter(path_status__in=FAULTY_PATHS if path == FAULTY else [path])
    if host is not None:
        pairs = pairs.filter(Q(source__host=host) | Q(sink__host=host))
    if endpoint is not None:
        pairs = pairs.filter(Q(source=endpoint) | Q(sink=endpoint))
    return pairs.select_related("source__host", "sink__host", "environment")


def pairs_to_choose(
    *, chosen: Collection[int], text: str, most: int, environment: int | None = None
) -> tuple[list[Pair], int]:
    """Return the first that match, before them the chosen that are not among these; and how many match in all.

    Every chosen pair is there: a tick that a form doesn't show would be lost when it is sent.
    """
    order = ("source__host__name", "pk")
    matching = list(pairs_matching(text=text, environment=environment).order_by(*order)[: most + 1])
    hidden = set(chosen) - {pair.pk for pair in matching[:most]}
    first = list(pairs_matching().filter(pk__in=hidden).order_by(*order)) if hidden else []
    total = pairs_matching(text=text, environment=environment).count() if len(matching) > most else len(matching)
    return first + matching[:most], total


def environments_matching(*, text: str = "", archived: bool = False) -> QuerySet[Environment]:
    """Return environments by part of their name or description, with the number of their pairs as `pair_count`."""
    environments = Environment.objects.filter(archived_at__isnull=not archived)
    if text := searched(text):
        environments = environments.filter(_is_called(text) | Q(description__icontains=text))
    return environments.annotate(pair_count=Count("pairs", filter=Q(pairs__archived_at=None)))


def _is_called(text: str, row: str = "") -> Q:
    """Match hosts or environments by part of their names, in any case and spelling."""
    return Q((f"{row}name_key__contains", name_key(text)))


def _end_matches(field: str, text: str) -> Q:
    return Q((f"source__{field}__icontains", text)) | Q((f"sink__{field}__icontains", text))


def environment_itself(*, environment_id: int, **_: object) -> list[int]:
    """Return the environment that an address names: to change it takes a role in it."""
    return [environment_id]


def environments_of_pair(*, pair_id: int, **_: object) -> Iterable[int]:
    """Return the environment of the pair that an address names, read when it matters."""
    return environments_of_pairs([pair_id])


def environments_of_pairs(pair_ids: Collection[int]) -> Iterable[int]:
    """Return the environments of pairs, read when it matters."""
    return Pair.objects.filter(pk__in=pair_ids).values_list("environment_id", flat=True).distinct()


def engine_versions() -> list[tuple[str, int]]:
    """Return each version of the engines of hosts in use, with the number of hosts that have it; one query."""
    endpoints = Endpoint.objects.filter(archived_at=None, host__archived_at=None, host__is_synthetic=False)
    known = endpoints.exclude(engine_version="").values_list("engine_version")
    return list(known.annotate(hosts=Count("host", distinct=True)).order_by("-hosts", "engine_version"))
