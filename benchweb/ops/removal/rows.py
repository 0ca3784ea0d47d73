# ruff: noqa: S608  (names of tables and columns come from the models, the conditions from here)
"""Delete rows with whatever refers to them: found by the models' own foreign keys, deepest first."""

from typing import Any

from django.db import connection, models

from benchweb.common.rows import fetch_value


def rows_delete(model: type[models.Model], condition: str, removed: dict[str, int]) -> None:
    """Delete the rows of a condition in SQL, and what refers to them; add the rows deleted, by table."""
    table = model._meta.db_table
    if not fetch_value(f"select exists (select from {table} where {condition})"):
        return
    for field in _referring_keys(model):
        child = field.model
        refers = f'"{field.column}" in (select id from {table} where {condition})'
        if field.remote_field.on_delete is models.SET_NULL:
            _execute(f'update {child._meta.db_table} set "{field.column}" = null where {refers}')
        else:
            rows_delete(child, refers, removed)
    removed[table] = removed.get(table, 0) + _execute(f"delete from {table} where {condition}")


def _referring_keys(model: type[models.Model]) -> list[Any]:
    """Return the foreign keys to a model, those without a name for the way back included."""
    relations: list[Any] = [field for field in model._meta.get_fields(include_hidden=True) if field.auto_created]
    return [relation.field for relation in relations if relation.one_to_many or relation.one_to_one]


def _execute(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.rowcount)
