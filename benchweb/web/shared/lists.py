"""Lists that filter, sort and page in the URL: keyset paging, so that a deep page costs what the first does."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar, cast

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet, Value
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from benchweb.accounts.models import ListColumns
from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.saved_views import is_own_path
from benchweb.common.rows import row_id

# Of the pairs that stand on a host's or an environment's page; the rest is on the list of pairs, filtered.
PAIRS_DISPLAYED = 20
# Of the latest runs of something, at the foot of its page.
RUNS_DISPLAYED = 10
# Of rows to filter a list by.
_MOST_CHOICES = 2_000


def list_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render a list; for htmx push the URL without its empty filters."""
    response = render(request, template, context)
    if request.headers.get("HX-Request"):
        query = request.GET.copy()
        for name in [name for name, value in query.items() if not value]:
            del query[name]
        response["HX-Push-Url"] = f"{request.path}?{query.urlencode()}" if query else request.path
    return response


def posted_back(request: HttpRequest, default: str) -> str:
    """Return the page of ours that a form names to go back to, else `default`."""
    back = request.POST.get("back", "")
    return back if is_own_path(back) else reverse(default)


PAGE_SIZE = 25
# A longer list says that it is longer: to count all of it would cost more than to show a page.
MOST_COUNTED = 10_000
# Of runs, of which there are many and whose filters join other tables.
MOST_RUNS_COUNTED = 1_000


class HasId(Protocol):
    """A row with an id: the cursor to the next page is the last one's."""

    @property
    def pk(self) -> Any: ...


Row = TypeVar("Row", bound=HasId)


@dataclass(frozen=True)
class Column:
    """A column of a list: its label, marked by gettext_noop, and, when it can be sorted by, the field that does it."""

    label: str
    field: str = ""
    numeric: bool = False
    # What a reader's choice of columns calls it; one without a key is always there.
    key: str = ""


@dataclass(frozen=True)
class Heading:
    """A column as shown: `url` sorts by it, `direction` is ascending, descending or none."""

    label: str
    numeric: bool
    url: str
    direction: str
    key: str = ""


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """One page of rows with the links around it; `filtered` when a filter may hide rows: not where there are none.

    `total` is the number of rows on all pages, None where they are more than `most_counted`.
    """

    rows: list[Row]
    headings: list[Heading]
    filters: dict[str, str]
    filtered: bool
    next_url: str
    previous_url: str
    first_url: str
    total: int | None
    most_counted: int

    def of_columns(self, hidden: Collection[str]) -> "Listing[Row]":
        """Return the same rows without the headings of hidden columns."""
        return replace(self, headings=[heading for heading in self.headings if heading.key not in hidden])

    @property
    def exceeded(self) -> int | None:
        """Return the number that there are more rows than, where they are too many to be counted."""
        return self.most_counted if self.total is None else None

    @property
    def is_only_archived(self) -> bool:
        """Tell whether nothing but the choice of archived rows may hide any."""
        return [name for name, value in self.filters.items() if value] == ["archived"]


def listing(
    request: HttpRequest,
    rows: "QuerySet[Any, Row]",
    *,
    columns: Sequence[Column],
    sort: str,
    filters: Sequence[str] = (),
    most_counted: int | None = None,
) -> Listing[Row]:
    """Sort and page `rows` as the query string asks; an unknown sort gives `sort`, no id the first page."""
    query = request.GET
    fields = {column.field for column in columns if column.field}
    requested = query.get("sort", sort)
    requested = requested if requested.removeprefix("-") in fields else sort
    after, before = query.get("after", ""), query.get("before", "")
    page_rows, has_previous, has_next = _page(rows, requested, after, before)
    values = {name: query.get(name, "") for name in filters}
    most = most_counted or MOST_COUNTED
    return Listing(
        rows=page_rows,
        headings=[_heading(query, column, requested) for column in columns],
        filters=values,
        filtered=any(values.values()) and (bool(page_rows) or _may_hide(rows, values)),
        next_url=_url(query, after=str(page_rows[-1].pk), before="") if page_rows and has_next else "",
        previous_url=_url(query, after="", before=str(page_rows[0].pk)) if page_rows and has_previous else "",
        first_url=_url(query, after="", before="") if has_previous or before or after else "",
        total=_total(rows, most) if has_previous or has_next else len(page_rows),
        most_counted=most,
    )


def _may_hide(rows: "QuerySet[Any, Any]", filters: Mapping[str, str]) -> bool:
    """Tell whether filters may be to blame for an empty list: of a table without any row only an archive is chosen."""
    # By the index: to come upon any row takes long behind many that were removed.
    return bool(filters.get("archived") or rows.model._default_manager.order_by("pk").values_list("pk")[:1])


def _page(rows: "QuerySet[Any, Row]", sort: str, after: str, before: str) -> tuple[list[Row], bool, bool]:
    """Return a page's rows in the order of `sort`, and whether there are more before and behind them."""
    opposite = sort.removeprefix("-") if sort.startswith("-") else f"-{sort}"
    if (earlier := _beyond(rows, opposite, before)) is not None:
        page_rows, more = _cut(earlier, opposite)
        return page_rows[::-1], more, True
    if (later := _beyond(rows, sort, after)) is not None:
        page_rows, more = _cut(later, sort)
        return page_rows, True, more
    page_rows, more = _cut(rows, sort)
    return page_rows, False, more


def _cut(rows: "QuerySet[Any, Row]", sort: str) -> tuple[list[Row], bool]:
    """Read a page's rows in the order of `sort` and then the id, and whether there is more."""
    page_rows = list(rows.order_by(sort, "-pk" if sort.startswith("-") else "pk")[: PAGE_SIZE + 1])
    return page_rows[:PAGE_SIZE], len(page_rows) > PAGE_SIZE


def _beyond(rows: "QuerySet[Any, Row]", sort: str, cursor: str) -> "QuerySet[Any, Row] | None":
    """Keep what comes after the row of that id, in the order of `sort` and then the id; None where there is no row."""
    cursor_id = row_id(cursor)
    if cursor_id is None:
        return None
    field = sort.removeprefix("-")
    beyond = "lt" if sort.startswith("-") else "gt"
    if field == "pk":
        return rows.filter((f"pk__{beyond}", cursor_id))
    value = rows.model._default_manager.filter(pk=cursor_id).values_list(field, flat=True).first()
    if value is None:
        return None
    return rows.filter(Q((f"{field}__{beyond}", value)) | Q((field, value), (f"pk__{beyond}", cursor_id)))


def _total(rows: "QuerySet[Any, Any]", most: int) -> int | None:
    # Of a whole table in an index's order, for else PostgreSQL reads the table; filters decide by themselves.
    ordered = rows.order_by() if rows.query.where else rows.order_by("pk")
    counted = ordered.values("pk")[: most + 1].count()
    return counted if counted <= most else None


def _heading(query: QueryDict, column: Column, sort: str) -> Heading:
    # gettext gives its own header for the empty text.
    label = gettext(column.label) if column.label else ""
    if not column.field:
        return Heading(label, column.numeric, url="", direction="none", key=column.key)
    directions = {column.field: "ascending", f"-{column.field}": "descending"}
    following = f"-{column.field}" if sort == column.field else column.field
    url = _url(query, sort=following, after="", before="")
    return Heading(label, column.numeric, url=url, direction=directions.get(sort, "none"), key=column.key)


def _url(query: QueryDict, **changes: str) -> str:
    changed = query.copy()
    _apply(changed, changes)
    return f"?{changed.urlencode()}"


def _apply(query: QueryDict, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value


_LONGEST = 40
_MOST = 40


def within_scopes(rows: "QuerySet[Any, Row]", query: QueryDict, scopes: Sequence[str]) -> "QuerySet[Any, Row]":
    """Filter by the rows that an address names; what is for all is among what is for any."""
    for name in scopes:
        if text := query.get(name):
            # 0 is no row's id: what can't be one matches only what is for all.
            rows = rows.filter(Q((name, None)) | Q((name, row_id(text) or 0)))
    return rows


def part_of_query(query: QueryDict, names: Collection[str]) -> str:
    """Return what an address says of these, to begin another page with; empty for nothing."""
    part = query.copy()
    for name in [name for name in part if name not in names or not part[name]]:
        del part[name]
    return f"?{part.urlencode()}" if part else ""


def choices_of(rows: "QuerySet[Any, Any]") -> list[tuple[str, str]]:
    """Return rows to choose from, as ids and names in order; of very many the first."""
    return [(str(pk), name) for pk, name in rows.order_by("name").values_list("pk", "name")[:_MOST_CHOICES]]


def choices_of_all(**lists: "QuerySet[Any, Any]") -> dict[str, list[tuple[int, str]]]:
    """Return the rows of several lists to filter by, as ids and names in order; one query."""
    first, *others = (rows.order_by().values_list(Value(of), "pk", "name") for of, rows in lists.items())
    choices: dict[str, list[tuple[int, str]]] = {of: [] for of in lists}
    for of, pk, name in first.union(*others, all=True).order_by("name", "pk"):
        choices[of].append((pk, name))
    return choices


@dataclass(frozen=True)
class ColumnChoice:
    """A column that may be left out."""

    key: str
    label: str
    is_shown: bool


@dataclass(frozen=True)
class ChosenColumns:
    """The columns of a list as its reader has chosen them."""

    list_name: str
    choices: list[ColumnChoice]

    @cached_property
    def hidden(self) -> frozenset[str]:
        return frozenset(choice.key for choice in self.choices if not choice.is_shown)

    @cached_property
    def shown(self) -> frozenset[str]:
        return frozenset(choice.key for choice in self.choices if choice.is_shown)


def chosen_columns(request: HttpRequest, list_name: str, columns: Sequence[Column]) -> ChosenColumns:
    """Return the reader's choice for a list: all of them until something is left out; one query."""
    rows = ListColumns.objects.filter(user=cast(User, request.user), list_name=list_name)
    hidden = rows.values_list("hidden", flat=True).first() or []
    return ChosenColumns(
        list_name,
        [ColumnChoice(column.key, gettext(column.label), column.key not in hidden) for column in columns if column.key],
    )


@needs(Permission.READ)
@require_POST
def columns_save(request: HttpRequest, list_name: str) -> HttpResponse:
    """Keep which columns of a list the reader sees, and go back to it."""
    known = {key[:_LONGEST] for key in request.POST.getlist("known")[:_MOST]}
    hidden = sorted(known - set(request.POST.getlist("shown")))
    user = cast(User, request.user)
    own, name = ListColumns.objects.filter(user=user), list_name[:_LONGEST]
    # Whatever an address calls a list: nobody has many.
    if own.count() < _MOST or own.filter(list_name=name).exists():
        own.update_or_create(user=user, list_name=name, defaults={"hidden": hidden})
    return redirect(posted_back(request, "web:overview"))
