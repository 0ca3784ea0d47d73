"""Facts that runs can be chosen by, such as the kernel, and which values of them the hosts have."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from benchweb.common.rows import fetch

# By name, and where a document has them.
FACTS: Mapping[str, tuple[str, ...]] = {
    "kernel": ("kernel",),
    "engine_version": ("engine_version",),
    "operating_system": ("operating_system",),
    "congestion_control": ("congestion_control",),
    "governor": ("cpu", "governor"),
    "cpu": ("cpu", "model"),
    "virtualisation": ("virtualisation",),
}
# The facts seen last: a fleet's documents would take long to read, and those of years ago nobody compares.
_MOST_FACTS = 1_000
_VALUES = """
SELECT known.name, known.value, count(DISTINCT endpoint.host_id) AS hosts, min(facts.first_seen_at) AS first_seen_at,
  max(facts.last_seen_at) AS last_seen_at
FROM (SELECT endpoint_id, first_seen_at, last_seen_at, document FROM hosts_facts
  ORDER BY last_seen_at DESC LIMIT %(most)s) facts
JOIN hosts_endpoint endpoint ON endpoint.id = facts.endpoint_id
CROSS JOIN LATERAL (SELECT name, facts.document #>> string_to_array(path, '.') AS value
  FROM unnest(%(names)s::text[], %(paths)s::text[]) AS fact(name, path)) known
WHERE known.value <> '' GROUP BY known.name, known.value
ORDER BY known.name, min(facts.first_seen_at) DESC, known.value
"""


class FactValue(NamedTuple):
    """A value of a fact: how many hosts had it, and when it was seen first and last."""

    name: str
    value: str
    hosts: int
    first_seen_at: datetime
    last_seen_at: datetime


def fact_values() -> list[FactValue]:
    """Return the values of all these facts by name, the newest first; one query over the facts seen last."""
    paths = [".".join(path) for path in FACTS.values()]
    return fetch(FactValue, _VALUES, {"names": list(FACTS), "paths": paths, "most": _MOST_FACTS})
