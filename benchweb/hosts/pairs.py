"""Pairs: what calls them by name in a statement written by hand, those to choose from, and the one between two ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from benchweb.accounts.permissions import Access, Permission, access_of
from benchweb.catalog.reasons import ReasonOf
from benchweb.common.names import name_key
from benchweb.common.rows import fetch
from benchweb.hosts.belonging import places_paired, shared_environment
from benchweb.hosts.meshes import pairs_make
from benchweb.hosts.models import Endpoint, Environment, Pair, endpoint_label, pair_label

_ENDS = """
  JOIN hosts_endpoint source ON source.id = pair.source_id
  JOIN hosts_host source_host ON source_host.id = source.host_id
  JOIN hosts_endpoint sink ON sink.id = pair.sink_id
  JOIN hosts_host sink_host ON sink_host.id = sink.host_id
"""
_COLUMNS = {
    "source_host": "source_host.name",
    "source_endpoint": "source.name",
    "source_mode": "source.network_mode",
    "sink_host": "sink_host.name",
    "sink_endpoint": "sink.name",
    "sink_mode": "sink.network_mode",
    "is_one_host": "(pair.source_id = pair.sink_id)",
}
_NAMES = ", ".join(f"{column} AS {name}" for name, column in _COLUMNS.items())
_PAIRS_OF_JSON = ", ".join(f"'{name}', {column}" for name, column in _COLUMNS.items())
_AS_JSON = f"jsonb_build_object({_PAIRS_OF_JSON})"


@dataclass(frozen=True, kw_only=True)
class PairNames:
    """What calls a pair by name: the columns `{pair_names}` of a statement, or the object `{pair_names_as_json}`."""

    source_host: str
    source_endpoint: str
    source_mode: str
    sink_host: str
    sink_endpoint: str
    sink_mode: str
    # None where there is no pair.
    is_one_host: bool | None = False

    @property
    def source(self) -> str:
        return endpoint_label(self.source_host, self.source_endpoint, self.source_mode)

    @property
    def sink(self) -> str:
        return endpoint_label(self.sink_host, self.sink_endpoint, self.sink_mode)

    @property
    def pair(self) -> str:
        return pair_label(self.source, self.sink, is_one_host=bool(self.is_one_host))


def with_pairs(statement: str) -> str:
    """Fill in the marks of `PairNames`, and the rows of both ends of the row `pair`.

    Those are `{pair_ends}`, or `{pair_ends_if_any}`.
    """
    if_any = _ENDS.replace("JOIN", "LEFT JOIN")
    parts = {"{pair_names}": _NAMES, "{pair_names_as_json}": _AS_JSON}
    for mark, part in (parts | {"{pair_ends}": _ENDS, "{pair_ends_if_any}": if_any}).items():
        statement = statement.replace(mark, part)
    return statement


_OF_HOST = "(SELECT id FROM hosts_endpoint WHERE host_id = %(host)s)"
_OF = {
    "environment": "pair.environment_id = %(environment)s",
    "host": f"(pair.source_id IN {_OF_HOST} OR pair.sink_id IN {_OF_HOST})",
}
_SQL = with_pairs("""
SELECT pair.id AS pk, environment.id AS environment_id, environment.name AS environment,
  source.status AS source_status, source.status_reason AS source_reason,
  source.status_reason_data AS source_reason_data, sink.status_reason_data AS sink_reason_data,
  sink.status AS sink_status, sink.status_reason AS sink_reason, pair.path_status, pair.path_reason,
  pair.path_reason_data,
  (SELECT count(*) FROM hosts_pair pair WHERE pair.archived_at IS NULL AND {of}) AS total, {pair_names}
FROM hosts_pair pair
JOIN hosts_environment environment ON environment.id = pair.environment_id
{pair_ends}
WHERE pair.archived_at IS NULL AND {of}
ORDER BY pair.id LIMIT %(most)s
""")


@dataclass(frozen=True, kw_only=True)
class PairLine(PairNames):
    """A pair, as far as a table names it, with what the latest checks of its ends found."""

    pk: int
    environment_id: int
    environment: str
    source_status: str
    source_reason: str
    source_reason_data: dict[str, Any] | None
    sink_status: str
    sink_reason: str
    sink_reason_data: dict[str, Any] | None
    path_status: str
    path_reason: str
    path_reason_data: dict[str, Any] | None
    # How many pairs there are in all.
    total: int
    source_why = ReasonOf("source_reason")
    sink_why = ReasonOf("sink_reason")
    path_why = ReasonOf("path_reason")


def first_pairs(of: Mapping[str, int], *, most: int) -> list[PairLine]:
    """Return the first pairs in use of one environment or host, `{"host": 7}`."""
    (scope,) = of
    return fetch(PairLine, _SQL.format(of=_OF[scope]), {**of, "most": most})


_CHOICES = with_pairs("""
SELECT pair.id AS pk, {pair_names} FROM hosts_pair pair {pair_ends}
WHERE pair.archived_at IS NULL ORDER BY pair.id = %(chosen)s DESC, pair.id LIMIT %(most)s
""")


@dataclass(frozen=True, kw_only=True)
class _Choice(PairNames):
    pk: int


def pair_choices(*, most: int, chosen: int = 0) -> list[tuple[int, str]]:
    """Return the ids and names of the pairs in use; of more than `most` only the chosen."""
    rows = fetch(_Choice, _CHOICES, {"chosen": chosen, "most": most + 1})
    return [(row.pk, row.pair) for row in rows if len(rows) <= most or row.pk == chosen]


# Where the pairs of an ad hoc test between hosts that no pair connects are, unless both are in an environment.
QUICK_ENVIRONMENT = "quick tests"


def pair_of_host(endpoint: Endpoint, user: User | None = None) -> Pair:
    """Return the pair in use that is one host alone, as `pair_between` has it."""
    return pair_between(endpoint, endpoint, user)


@transaction.atomic
def pair_between(source: Endpoint, sink: Endpoint, user: User | None = None) -> Pair:
    """Return the pair in use from one endpoint to another, the oldest of those that the user may run.

    Where there is none it is made; raise Refused where the user may not.
    """
    access = access_of(user) if user is not None else None
    pairs = Pair.objects.select_related("source__host", "sink__host", "environment")
    between = pairs.filter(source=source, sink=sink, archived_at=None).order_by("pk")
    known = list(between)
    mine = (pair for pair in known if access is None or access.may_in(Permission.RUN, pair.environment_id))
    if (found := next(mine, next(iter(known), None))) is not None:
        return found
    environment = _environment_of(source, sink, access)
    if access is not None:
        access.demand(Permission.WRITE, places_paired(environment.pk, [source.pk, sink.pk]))
    # Whoever makes it at this moment makes the same.
    pairs_make([Pair(source=source, sink=sink, environment=environment)])
    return between.get(environment=environment)


def _environment_of(source: Endpoint, sink: Endpoint, access: Access | None) -> Environment:
    """Return the environment that both hosts are in, else the one of such pairs."""
    if (shared := shared_environment([source.pk, sink.pk], access)) is not None:
        return shared
    called = {"name_key": name_key(QUICK_ENVIRONMENT), "archived_at": None}
    return Environment.objects.get_or_create(**called, defaults={"name": QUICK_ENVIRONMENT})[0]
