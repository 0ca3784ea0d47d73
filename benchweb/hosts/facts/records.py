"""What was true of an endpoint's host: kept as one row as long as it stays so."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from benchweb.hosts.facts.interfaces import lasting
from benchweb.hosts.models import Facts

# Facts that change by themselves and say nothing of the machine's set-up.
VOLATILE_FACTS = ("time", "uptime_seconds", "load_average")
FACTS_SEEN_STEP = timedelta(minutes=1)


@dataclass(frozen=True)
class ReportedFacts:
    """What an engine told of an endpoint's host; equal facts have equal digests, whatever changes by itself."""

    endpoint_id: int
    document: dict[str, Any]
    digest: str

    @property
    def key(self) -> tuple[int, str]:
        """Return what the row of these facts is found by."""
        return self.endpoint_id, self.digest


def facts_reported(*, endpoint_id: int, document: dict[str, Any]) -> ReportedFacts:
    """Take what an engine told, with its digest."""
    stable = {key: value for key, value in lasting(document).items() if key not in VOLATILE_FACTS}
    digest = hashlib.sha256(json.dumps(stable, sort_keys=True).encode()).hexdigest()
    return ReportedFacts(endpoint_id, document, digest)


def facts_store(reported: Sequence[ReportedFacts]) -> dict[tuple[int, str], int]:
    """Keep facts that were told now, by the database's clock; return their rows' ids by `key`. One query if known."""
    wanted = reduce(or_, (Q(endpoint=facts.endpoint_id, digest=facts.digest) for facts in reported), Q(pk=None))
    rows = Facts.objects.filter(wanted).annotate(now=Now()).only("endpoint_id", "digest", "last_seen_at")
    known = {(row.endpoint_id, row.digest): row for row in rows}
    for row in known.values():
        _see(row, row.now)
    return {facts.key: known[facts.key].pk if facts.key in known else _made(facts, Now()).pk for facts in reported}


def facts_record(*, endpoint_id: int, document: dict[str, Any], at: datetime) -> int:
    """Keep facts that come by themselves; return the row's id."""
    row = _made(facts_reported(endpoint_id=endpoint_id, document=document), at)
    _see(row, at)
    return row.pk


def _made(reported: ReportedFacts, at: datetime | Now) -> Facts:
    row, _ = Facts.objects.get_or_create(
        endpoint_id=reported.endpoint_id,
        digest=reported.digest,
        defaults={"document": reported.document, "first_seen_at": at, "last_seen_at": at},
    )
    return row


def _see(row: Facts, at: datetime) -> None:
    # Trials come each second: to write the time of every one would only wear the table.
    if at - row.last_seen_at > FACTS_SEEN_STEP:
        Facts.objects.filter(pk=row.pk, last_seen_at__lt=at).update(last_seen_at=at)
