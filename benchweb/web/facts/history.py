"""Show what changed on a host and when: its facts, one row after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from benchweb.documents.moments import rfc3339
from benchweb.hosts.facts.changes import SeenFacts, fact_changes
from benchweb.hosts.facts.interfaces import used_by
from benchweb.hosts.models import Endpoint, Facts
from benchweb.web.facts.compare_links import before_and_after

# Around a change, so many days of history are shown before it and after.
_DAYS_AROUND = timedelta(days=7)


@dataclass(frozen=True)
class FactsChange:
    """A time at which an endpoint's facts were first seen to differ, what did, and where to see what it did."""

    at: datetime
    endpoint: str
    words: str
    history_url: str
    compare_url: str


@dataclass(frozen=True)
class FactsHistory:
    """A host's changes, the newest first; `since` is when facts were first seen, None before that."""

    changes: list[FactsChange]
    since: datetime | None
    has_several_endpoints: bool


def facts_history(*, host_id: int, endpoints: Sequence[Endpoint], rows: Sequence[Facts]) -> FactsHistory:
    """Prepare the changes between the rows of a host's endpoints; no query."""
    documents = {row.digest: row.document for row in rows}
    changes = [
        FactsChange(
            change.at,
            endpoint.name or endpoint.network_mode,
            change.words,
            _around(host_id, change.at),
            before_and_after(change.at, change.at, {"host": str(host_id)}, change.facts),
        )
        for endpoint in endpoints
        for change in fact_changes(_seen_facts(endpoint, rows), lambda: documents, used_by(endpoint))
    ]
    return FactsHistory(
        changes=sorted(changes, key=lambda change: change.at, reverse=True),
        since=min((row.first_seen_at for row in rows), default=None),
        has_several_endpoints=len(endpoints) > 1,
    )


def _seen_facts(endpoint: Endpoint, rows: Sequence[Facts]) -> list[SeenFacts]:
    return [
        SeenFacts(row.digest, row.first_seen_at, row.last_seen_at) for row in rows if row.endpoint_id == endpoint.pk
    ]


def _around(host_id: int, at: datetime) -> str:
    span = {"from": rfc3339(at - _DAYS_AROUND), "to": rfc3339(at + _DAYS_AROUND)}
    return f"{reverse('web:history')}?{urlencode({'host': host_id, **span})}"
