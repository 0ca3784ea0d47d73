"""What was true of an endpoint's host: kept as one row as long as it stays so."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from benchweb.hosts.models import Facts
from benchweb.rows import fetch_all

# Facts that change by themselves and say nothing of the machine's set-up.
VOLATILE_FACTS = ("time", "uptime_seconds", "load_average")
FACTS_SEEN_STEP = timedelta(minutes=1)
_KNOWN = """
    SELECT endpoint_id, digest, id, last_seen_at FROM hosts_facts
    JOIN unnest(%(endpoints)s::bigint[], %(digests)s::text[]) AS told (endpoint_id, digest) USING (endpoint_id, digest)
"""


@dataclass(frozen=True)
class ToldFacts:
    """What an engine told of an endpoint's host; equal facts have equal digests, whatever changes by itself."""

    endpoint_id: int
    document: dict[str, Any]
    digest: str

    @property
    def key(self) -> tuple[int, str]:
        """Give what the row of these facts is found by."""
        return self.endpoint_id, self.digest


@dataclass(frozen=True)
class KnownFacts:
    """A row of facts, and when they were last seen."""

    pk: int
    last_seen_at: datetime


def facts_told(*, endpoint_id: int, document: dict[str, Any]) -> ToldFacts:
    """Take what an engine told, with its digest."""
    stable = {key: value for key, value in document.items() if key not in VOLATILE_FACTS}
    digest = hashlib.sha256(json.dumps(stable, sort_keys=True).encode()).hexdigest()
    return ToldFacts(endpoint_id, document, digest)


def facts_known(told: Sequence[ToldFacts]) -> dict[tuple[int, str], KnownFacts]:
    """Return those of these facts that there is a row of, by endpoint and digest."""
    values = {"endpoints": [each.endpoint_id for each in told], "digests": [each.digest for each in told]}
    return {(row[0], row[1]): KnownFacts(*row[2:]) for row in fetch_all(_KNOWN, values)}


def facts_keep(*, told: ToldFacts, known: KnownFacts | None, at: datetime) -> int:
    """Keep facts as a row with the time they were first and last seen, to the minute; give the row's id."""
    if known is None:
        row, _ = Facts.objects.get_or_create(
            endpoint_id=told.endpoint_id,
            digest=told.digest,
            defaults={"document": told.document, "first_seen_at": at, "last_seen_at": at},
        )
        known = KnownFacts(row.pk, row.last_seen_at)
    # Trials come each second: to write the time of every one would only wear the table.
    if at - known.last_seen_at > FACTS_SEEN_STEP:
        Facts.objects.filter(pk=known.pk, last_seen_at__lt=at).update(last_seen_at=at)
    return known.pk


def facts_record(*, endpoint_id: int, document: dict[str, Any], at: datetime) -> int:
    """Keep facts that come by themselves; give the row's id."""
    return facts_keep(told=facts_told(endpoint_id=endpoint_id, document=document), known=None, at=at)
