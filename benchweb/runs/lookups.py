"""A comparison of an id with the ids that a query gives, read first."""

from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, F, Func, QuerySet


class IsAmong(Func):
    """True where the row's id is one of those of a query of ids.

    An IN would be one more join, and of nine tables PostgreSQL no longer tries every order: it reads the whole of a
    large table to find ten rows. An array is read first, and the rows are found by their index.
    """

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()
    conditional = True

    def __init__(self, ids: "QuerySet[Any, Any]") -> None:
        super().__init__(F("pk"), ArraySubquery(ids))
