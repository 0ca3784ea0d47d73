"""Lists by cursor: a page stays right while rows are added, and costs the same however far it is."""

import base64
import binascii
from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from pydantic import BaseModel, Field

from benchweb.api.parser import MAXIMUM_INTEGER
from benchweb.api.problems import FieldError, invalid, invalid_fields
from benchweb.api.schemas import Item

MAXIMUM_LIMIT = 500
ItemT = TypeVar("ItemT")
RowT = TypeVar("RowT", bound=Model)
_PREFIX = "id:"


class Page(Item, Generic[ItemT]):
    """One page of a list; `next` is the cursor of the page after it, or null."""

    items: list[ItemT]
    next: str | None = None


class PageQuery(BaseModel):
    """What every list takes; filters are added by subclasses."""

    cursor: str = ""
    limit: Annotated[int, Field(ge=1, le=MAXIMUM_LIMIT)] = 100


class ArchivableQuery(PageQuery):
    """Lists of what can be archived show what is in use, or with `archived=true` what isn't."""

    archived: bool = False


def page(
    request: HttpRequest,
    query: PageQuery,
    rows: "QuerySet[RowT, RowT]",
    item: Callable[[RowT], ItemT],
    *,
    newest_first: bool = False,
) -> Page[ItemT]:
    """Return one page of rows by id; one query, which reads one row too many to know whether more follow."""
    return page_of(request, query, rows, lambda page_rows: [item(row) for row in page_rows], newest_first=newest_first)


def page_of(
    request: HttpRequest,
    query: PageQuery,
    rows: "QuerySet[RowT, RowT]",
    items: Callable[[list[RowT]], list[ItemT]],
    *,
    newest_first: bool = False,
) -> Page[ItemT]:
    """Return one page whose items are made together, for what is queried once for all of them."""
    refuse_unknown(request, type(query))
    if query.cursor:
        last_id = _decoded_cursor(query.cursor)
        rows = rows.filter(pk__lt=last_id) if newest_first else rows.filter(pk__gt=last_id)
    page_rows = list(rows.order_by("-pk" if newest_first else "pk")[: query.limit + 1])
    items_of_page = page_rows[: query.limit]
    more = len(page_rows) > query.limit
    return Page(items=items(items_of_page), next=_encoded_cursor(items_of_page[-1].pk) if more else None)


def refuse_unknown(request: HttpRequest, query: type[BaseModel]) -> None:
    """Refuse a filter that isn't one: misspelt, it would silently list everything."""
    known = {field.alias or name for name, field in query.model_fields.items()}
    unknown = [name for name in request.GET if name not in known]
    if unknown:
        message = f"There is no such filter here; there are: {', '.join(sorted(known))}."
        raise invalid_fields([FieldError(name[:60], message) for name in unknown])


def _encoded_cursor(last_id: Any) -> str:
    return base64.urlsafe_b64encode(f"{_PREFIX}{last_id}".encode()).decode().rstrip("=")


def _decoded_cursor(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        text = ""
    digits = text.removeprefix(_PREFIX)
    if not text.startswith(_PREFIX) or not digits.isdecimal() or len(digits) > 19 or int(digits) > MAXIMUM_INTEGER:
        raise invalid("cursor", "The cursor is not one that this list gave as `next`: start again without it.")
    return int(digits)
