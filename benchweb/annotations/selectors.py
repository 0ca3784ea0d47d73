"""Read people's notes."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models.functions import Coalesce

from benchweb.annotations.models import Annotation
from benchweb.common.rows import fetch
from benchweb.hosts.models import Environment, Host, Pair
from benchweb.hosts.pairs import PairNames, with_pairs

# More flags than this on one time axis are a wall.
MOST_ANNOTATIONS = 200

_SQL = with_pairs("""
SELECT n.at, n.until, n.id AS pk, n.text, coalesce(u.username, '') AS author, n.environment_id, n.host_id, n.pair_id,
  coalesce(o.name, e.name, '') AS subject,
  CASE WHEN n.pair_id IS NOT NULL THEN {pair_names_as_json} END AS names
FROM regressions_annotation n
LEFT JOIN auth_user u ON u.id = n.author_id
LEFT JOIN hosts_environment e ON e.id = n.environment_id
LEFT JOIN hosts_host o ON o.id = n.host_id
LEFT JOIN hosts_pair pair ON pair.id = n.pair_id
{pair_ends_if_any}
WHERE n.archived_at IS NULL AND n.at <= %(last)s AND coalesce(n.until, n.at) >= %(first)s AND (
  (n.environment_id IS NULL AND n.host_id IS NULL AND n.pair_id IS NULL)
  OR n.environment_id = ANY(%(environments)s) OR n.host_id = ANY(%(hosts)s) OR n.pair_id = ANY(%(pairs)s))
ORDER BY n.at, n.id LIMIT %(most_annotations)s
""")


@dataclass(frozen=True)
class AnnotationRow:
    """A note as pages show it; `about` names its pair, host or environment, and is empty where it is about all."""

    pk: int
    text: str
    at: datetime
    until: datetime | None
    author: str
    environment_id: int | None
    host_id: int | None
    pair_id: int | None
    # Of its host or environment.
    subject: str
    # Of its pair, as PairNames takes them.
    names: dict[str, Any] | None

    @property
    def about(self) -> str:
        return PairNames(**self.names).pair if self.names else self.subject


def annotations_between(
    first: datetime,
    last: datetime,
    *,
    environments: Collection[int],
    hosts: Collection[int],
    pairs: Collection[int],
) -> list[AnnotationRow]:
    """Return the notes that touch a time and concern any of these, or everything; by time."""
    values = {
        "first": first,
        "last": last,
        "environments": sorted(environments),
        "hosts": sorted(hosts),
        "pairs": sorted(pairs),
        "most_annotations": MOST_ANNOTATIONS,
    }
    return fetch(AnnotationRow, _SQL, values)


def environments_of_annotation(*, annotation_id: int, **_: object) -> Iterable[int | None]:
    """Return the environment of the note that an address names, read when it matters; None of a host's or of all."""
    environment = Coalesce("environment_id", "pair__environment_id")
    return Annotation.objects.filter(pk=annotation_id).values_list(environment, flat=True)


def environments_about(
    *, environment: Environment | None = None, host: Host | None = None, pair: Pair | None = None
) -> list[int | None]:
    """Return the environment that a note about one of these concerns; None for a host and for all."""
    return [environment.pk if environment else pair.environment_id if pair else None]
