"""Changes of facts on all hosts, prepared for their page: hosts that changed alike on one day are one row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.translation import pgettext

from benchweb.common.rows import row_id
from benchweb.documents.moments import rfc3339
from benchweb.hosts.facts.differences import FACTS, FactDifference
from benchweb.hosts.facts.fleet import ChangePlace, ChangesPage, ChangesWanted, EndpointFactsChange, changes_page
from benchweb.hosts.models import Host
from benchweb.results.selectors import hosts_with_results
from benchweb.web.facts.compare_links import before_and_after
from benchweb.web.shared.zones import requested_day

FILTERS = ("host", "environment", "fact", "from", "to")
_MOST_CHANGES = 100
_MOST_HOSTS_NAMED = 3
_DAY = timedelta(days=1)


@dataclass
class ChangeRow:
    """A change that was alike on one day on some hosts; `at` is the newest of the times, `first` the oldest."""

    at: datetime
    first: datetime
    differences: Sequence[FactDifference]
    hosts: list[Host] = field(default_factory=list)
    compare_url: str = ""

    @property
    def words(self) -> str:
        return pgettext("between parts of a sentence", "; ").join(difference.words for difference in self.differences)

    @property
    def named(self) -> list[Host]:
        return self.hosts[:_MOST_HOSTS_NAMED]

    @property
    def others(self) -> list[Host]:
        return self.hosts[_MOST_HOSTS_NAMED:]


@dataclass(frozen=True)
class FactChanges:
    """A page of changes, the newest first; the cursor of the page behind it, or nothing."""

    rows: list[ChangeRow]
    following: str


def read_changes(query: QueryDict, zone: ZoneInfo) -> FactChanges:
    """Return the changes that a query string asks for; at most eight queries."""
    wanted = _filters(query, zone)
    if wanted is None:
        return FactChanges([], "")
    page = changes_page(wanted, after=_place(query.get("after", "")), most=_MOST_CHANGES)
    return FactChanges(_rows(page, wanted, zone), _cursor(page.following) if page.following else "")


def _filters(query: QueryDict, zone: ZoneInfo) -> ChangesWanted | None:
    """Read the filters; None where one of them names nothing that there can be."""
    requested: Mapping[str, str] = {name: query.get(name, "").strip() for name in FILTERS}
    first, last = (requested_day(requested[name], zone) for name in ("from", "to"))
    ids = {name: row_id(requested[name]) for name in ("host", "environment")}
    is_wrong = any(requested[name] and at is None for name, at in (("from", first), ("to", last), *ids.items()))
    if is_wrong or requested["fact"] not in ("", *FACTS):
        return None
    return ChangesWanted(fact=requested["fact"], first=first, last=last + _DAY if last else None, **ids)


def _cursor(place: ChangePlace) -> str:
    return f"{rfc3339(place.at)}_{place.endpoint_id}_{place.number}"


def _place(text: str) -> ChangePlace | None:
    """Read a cursor; an address kept from when it had no number reads as well."""
    at_text, endpoint_text, number_text = [*text.split("_"), "", ""][:3]
    try:
        at, number = parse_datetime(at_text), int(number_text or 0)
    except ValueError:
        return None
    endpoint_id = row_id(endpoint_text)
    return ChangePlace(at, endpoint_id, number) if at and at.tzinfo and endpoint_id else None


def _rows(page: ChangesPage, wanted: ChangesWanted, zone: ZoneInfo) -> list[ChangeRow]:
    alike: dict[tuple[object, ...], ChangeRow] = {}
    for change in page.changes:
        row = alike.setdefault(
            _change_key(change, zone), ChangeRow(change.place.at, change.place.at, change.differences)
        )
        row.first = change.place.at
        if change.endpoint.host not in row.hosts:
            row.hosts.append(change.endpoint.host)
    measured = hosts_with_results({host.pk for row in alike.values() for host in row.hosts})
    for row in alike.values():
        row.compare_url = _compare_url(row, wanted) if measured.intersection(host.pk for host in row.hosts) else ""
    return list(alike.values())


def _change_key(change: EndpointFactsChange, zone: ZoneInfo) -> tuple[object, ...]:
    return change.place.at.astimezone(zone).date(), tuple(difference.words for difference in change.differences)


def _compare_url(row: ChangeRow, wanted: ChangesWanted) -> str:
    condition = {"environment": str(wanted.environment)} if wanted.environment else {}
    if len(row.hosts) == 1:
        condition["host"] = str(row.hosts[0].pk)
    return before_and_after(row.first, row.at, condition, row.differences)
