"""Read what is called so by one statement, facts by another; runs by benchweb.runs.lists."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef

from benchweb.common.rows import fetch
from benchweb.hosts.models import Facts
from benchweb.hosts.pairs import with_pairs

FACTS_READ = 200
_LIKE_SIGNS = re.compile(r"([\\%_])")

# What a type's rows say is put together with line breaks between: no word has one in it. What is called as the whole
# text comes before what begins so and what holds its words; of pairs those that were there first.
_RANK = """CASE WHEN upper({name}) = upper(%(text)s::text) THEN 0
    WHEN upper({name}) LIKE upper(%(beginning)s::text) THEN 1 ELSE 2 END"""
_HAS_ALL = (
    "upper(concat_ws(E'\\n', {searched})) LIKE ALL (ARRAY(SELECT upper(each) FROM unnest(%(patterns)s::text[]) each))"
)
_NAMED = with_pairs("""
WITH hosts AS MATERIALIZED (
  SELECT h.id, h.name, h.labels, upper(concat_ws(E'\\n', h.name, h.name_key, h.description, h.uplink,
    (SELECT string_agg(concat_ws(E'\\n', e.control_address, e.data_address, e.name), E'\\n')
      FROM hosts_endpoint e WHERE e.host_id = h.id AND e.archived_at IS NULL))) AS searched
  FROM hosts_host h WHERE h.archived_at IS NULL
)
(SELECT 1 AS position, 'hosts' AS type, {rank} AS rank, name, id AS pk,
  array_to_string(labels, ', ') AS note, NULL::bigint AS version, NULL::jsonb AS ends, false AS is_paused
FROM hosts WHERE NOT EXISTS (
  SELECT FROM unnest(%(words)s::text[], %(patterns)s::text[]) AS asked (word, pattern)
  WHERE searched NOT LIKE upper(pattern) AND word <> ALL (labels))
ORDER BY rank, name, id LIMIT %(most)s::bigint)
UNION ALL
(SELECT 2, 'pairs', 0, '', pair.id, e.name, NULL, {pair_names_as_json}, false
FROM hosts_pair pair JOIN hosts_environment e ON e.id = pair.environment_id {pair_ends}
WHERE pair.archived_at IS NULL
  AND {pair_has_all}
ORDER BY pair.id LIMIT %(most_pairs)s::bigint)
UNION ALL
(SELECT 3, 'environments', {rank} AS rank, name, id, description, NULL, NULL, false
FROM hosts_environment WHERE archived_at IS NULL AND {environment_has_all}
ORDER BY rank, name, id LIMIT %(most)s::bigint)
UNION ALL
(SELECT 4, 'plans', {rank} AS rank, name, id, '',
  (SELECT v.id FROM plans_planversion v WHERE v.plan_id = n.id ORDER BY v.number DESC LIMIT 1) AS version, NULL, false
FROM plans_plan n WHERE archived_at IS NULL AND NOT is_one_off AND {plan_has_all}
ORDER BY rank, name, id LIMIT %(most)s::bigint)
UNION ALL
(SELECT 5, 'schedules', {schedule_rank} AS rank, c.name, c.id, n.name, NULL, NULL,
  c.paused_at IS NOT NULL
FROM schedules_schedule c JOIN plans_plan n ON n.id = c.plan_id
WHERE c.archived_at IS NULL AND {schedule_has_all}
ORDER BY rank, c.name, c.id LIMIT %(most)s::bigint)
ORDER BY position, rank, name, pk
""").format(
    rank=_RANK.format(name="name"),
    schedule_rank=_RANK.format(name="c.name"),
    pair_has_all=_HAS_ALL.format(
        searched="e.name, source_host.name, source_host.name_key, source.name, "
        "sink_host.name, sink_host.name_key, sink.name"
    ),
    environment_has_all=_HAS_ALL.format(searched="name, name_key, description"),
    plan_has_all=_HAS_ALL.format(searched="name"),
    schedule_has_all=_HAS_ALL.format(searched="c.name, n.name"),
)


class NamedRow(NamedTuple):
    """Something that is called so; `version` is a plan's latest, `ends` is what a pair's PairNames takes."""

    position: int
    type: str
    rank: int
    name: str
    pk: int
    note: str
    version: int | None
    ends: Any
    is_paused: bool


class FactsRow(NamedTuple):
    """A host's facts in words; former ones were followed by others."""

    words: str
    last_seen_at: datetime
    is_former: bool
    endpoint: int
    host: int
    host_name: str


def rows_called(words: Sequence[str], *, most: int, most_pairs: int) -> dict[str, list[NamedRow]]:
    """Return what has every word in what it is called or described by, by type, the best first; one query."""
    text = " ".join(words)
    values = {
        "text": text,
        "beginning": f"{_literally(text)}%",
        "words": list(words),
        "patterns": [f"%{_literally(word)}%" for word in words],
        "most": most,
        "most_pairs": most_pairs,
    }
    groups: dict[str, list[NamedRow]] = {name: [] for name in ("hosts", "pairs", "environments", "plans", "schedules")}
    for row in fetch(NamedRow, _NAMED, values):
        groups[row.type].append(row)
    return groups


def facts_with(values: Sequence[str], patterns: Sequence[str], *, most: int) -> list[FactsRow]:
    """Return the facts that hold all values where the regular expressions say, those that still hold first; one query.

    The values are what the index on trigrams finds; the expressions judge what it found.
    """
    newer = Facts.objects.filter(endpoint=OuterRef("endpoint"), last_seen_at__gt=OuterRef("last_seen_at"))
    rows = (
        Facts.objects.filter(endpoint__archived_at=None, endpoint__host__archived_at=None)
        .annotate(is_former=Exists(newer))
        .order_by("is_former", "-last_seen_at", "endpoint__host__name")
        .values(
            *("words", "last_seen_at", "is_former", "endpoint"),
            host=F("endpoint__host"),
            host_name=F("endpoint__host__name"),
        )
    )
    for value in values:
        rows = rows.filter(words__icontains=value)
    for pattern in patterns:
        rows = rows.filter(words__iregex=pattern)
    return [FactsRow(**columns) for columns in rows[:most]]


def _literally(text: str) -> str:
    return _LIKE_SIGNS.sub(r"\\\1", text)
