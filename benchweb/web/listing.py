"""Lists that filter, sort and page in the URL: keyset paging, so that a deep page costs what the first does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from django.db.models import Q, QuerySet
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext

from benchweb.web.row_ids import row_id

PAGE_SIZE = 50


class HasId(Protocol):
    """What a row must have: the cursor to the next page is the last one's id."""

    @property
    def pk(self) -> Any: ...


Row = TypeVar("Row", bound=HasId)


@dataclass(frozen=True)
class Column:
    """A column of a list: its label, marked by gettext_noop, and, when it can be sorted by, the field that does it."""

    label: str
    field: str = ""
    numeric: bool = False


@dataclass(frozen=True)
class Heading:
    """A column as shown: `url` sorts by it, `direction` is ascending, descending or none."""

    label: str
    numeric: bool
    url: str
    direction: str


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """One page of rows with the links around it; `filtered` when a filter may hide rows."""

    rows: list[Row]
    headings: list[Heading]
    filters: dict[str, str]
    filtered: bool
    next_url: str
    first_url: str


def listing(
    request: HttpRequest,
    rows: "QuerySet[Any, Row]",
    *,
    columns: Sequence[Column],
    sort: str,
    filters: Sequence[str] = (),
) -> Listing[Row]:
    """Sort and page `rows` as the query string asks; an unknown sort gives `sort`, no id the first page."""
    query = request.GET
    fields = {column.field for column in columns if column.field}
    asked = query.get("sort", sort)
    asked = asked if asked.removeprefix("-") in fields else sort
    ordered = rows.order_by(asked, "-pk" if asked.startswith("-") else "pk")
    after = query.get("after", "")
    page = list(_beyond(ordered, asked, after)[: PAGE_SIZE + 1])
    shown = page[:PAGE_SIZE]
    more = len(page) > PAGE_SIZE
    values = {name: query.get(name, "") for name in filters}
    return Listing(
        rows=shown,
        headings=[_heading(query, column, asked) for column in columns],
        filters=values,
        filtered=any(values.values()),
        next_url=_url(query, after=str(shown[-1].pk)) if more else "",
        first_url=_url(query, after="") if after else "",
    )


def _beyond(rows: "QuerySet[Any, Row]", sort: str, after: str) -> "QuerySet[Any, Row]":
    """Keep what comes after the row with the id `after`, in the order of `sort` and then the id."""
    after_id = row_id(after)
    if after_id is None:
        return rows
    field = sort.removeprefix("-")
    beyond = "lt" if sort.startswith("-") else "gt"
    if field == "pk":
        return rows.filter((f"pk__{beyond}", after_id))
    found = rows.model._default_manager.filter(pk=after_id).values_list(field, flat=True).first()
    if found is None:
        return rows
    return rows.filter(Q((f"{field}__{beyond}", found)) | Q((field, found), (f"pk__{beyond}", after_id)))


def _heading(query: QueryDict, column: Column, sort: str) -> Heading:
    # gettext gives its own header for the empty text.
    label = gettext(column.label) if column.label else ""
    if not column.field:
        return Heading(label, column.numeric, url="", direction="none")
    directions = {column.field: "ascending", f"-{column.field}": "descending"}
    following = f"-{column.field}" if sort == column.field else column.field
    url = _url(query, sort=following, after="")
    return Heading(label, column.numeric, url=url, direction=directions.get(sort, "none"))


def _url(query: QueryDict, **changes: str) -> str:
    changed = query.copy()
    _apply(changed, changes)
    return f"?{changed.urlencode()}"


def _apply(query: QueryDict, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
