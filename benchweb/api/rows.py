"""Find the rows that a call names."""

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import Model, QuerySet

from benchweb.api.problems import invalid, not_found

RowT = TypeVar("RowT", bound=Model)


def row_or_404(rows: "QuerySet[RowT, RowT]", row_id: int) -> RowT:
    """Return the row that the path names."""
    row = rows.filter(pk=row_id).first()
    if row is None:
        raise not_found(str(rows.model._meta.verbose_name), row_id)
    return row


def row_named(rows: "QuerySet[RowT, RowT]", row_id: int, field: str) -> RowT:
    """Return the row that a field of the body names."""
    row = rows.filter(pk=row_id).first()
    if row is None:
        raise invalid(field, f"There is no {rows.model._meta.verbose_name} {row_id}.")
    return row


def rows_named(rows: "QuerySet[RowT, RowT]", row_ids: Sequence[int], field: str) -> list[RowT]:
    """Return the rows that a list in the body names, in its order; one query."""
    by_id = rows.in_bulk(list(row_ids))
    for index, row_id in enumerate(row_ids):
        if row_id not in by_id:
            raise invalid(f"{field}.{index}", f"There is no {rows.model._meta.verbose_name} {row_id}.")
    return [by_id[row_id] for row_id in row_ids]
