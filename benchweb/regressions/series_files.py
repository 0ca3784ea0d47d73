"""Read a series from a file of another program: a JSON list of numbers, or a column of CSV."""

import csv
import json
import math
from typing import Any, NoReturn

_MISSING = {"", "null", "none", "nan", "na", "n/a", "-"}
_DELIMITERS = "\t;,"


class SeriesFileError(ValueError):
    """A fault of the file: where it is, and what to do."""


def read_series(content: bytes, column: str | None = None) -> list[float | None]:
    """Return the values in order, None for missing ones: of a JSON list, else of a CSV column, by name or number.

    Raise SeriesFileError for anything else. A column need not be named where there is only one.
    """
    try:
        text = content.decode("utf-8-sig").rstrip()
    except UnicodeDecodeError as error:
        raise SeriesFileError(f"Byte {error.start + 1} is not UTF-8 text: save the file as UTF-8.") from None
    if not text:
        raise SeriesFileError("The input is empty: give a JSON list of numbers, or CSV.")
    return _values_of_json(text, column) if text.lstrip()[0] in "[{" else _values_of_csv(text, column)


def _values_of_json(text: str, column: str | None) -> list[float | None]:
    if column is not None:
        raise SeriesFileError("--column is for CSV, but the input is JSON: leave it out.")
    try:
        items = json.loads(text, parse_constant=_refuse_constant, parse_int=float)
    except json.JSONDecodeError as error:
        raise SeriesFileError(
            f"Line {error.lineno}, column {error.colno} is not JSON ({error.msg}): give a list as [941.2, null, 937]."
        ) from None
    except RecursionError:
        raise SeriesFileError("The JSON is nested too deeply: give a flat list such as [941.2, null, 937].") from None
    if not isinstance(items, list):
        raise SeriesFileError(
            "The JSON is an object, not a list: give its list of numbers alone, as [941.2, null, 937]."
        )
    return [_value_of_item(item, index) for index, item in enumerate(items)]


def _value_of_item(item: Any, index: int) -> float | None:
    if item is None:
        return None
    if not isinstance(item, float) or not math.isfinite(item):
        raise SeriesFileError(f"Item {index} of the list is not a finite number: write null where a value is missing.")
    return item


def _refuse_constant(name: str) -> NoReturn:
    raise SeriesFileError(f"{name} is not a JSON number: write null where a value is missing.")


def _values_of_csv(text: str, column: str | None) -> list[float | None]:
    first_line = text.splitlines()[0]
    delimiter = next((candidate for candidate in _DELIMITERS if candidate in first_line), ",")
    try:
        rows = [(number, row) for number, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), start=1)]
    except csv.Error as error:
        raise SeriesFileError(f"The input is neither JSON nor CSV ({error}).") from None
    first = [cell.strip() for cell in rows[0][1]] or [""]
    is_text = [cell.lower() not in _MISSING for cell in first]
    has_head = any(is_text) and not any(_is_number(cell) for cell in first)
    index = _column_index(column, first, has_head)
    return [
        _value_of_cell(row, index, number) for number, row in rows[1 if has_head else 0 :] if row or len(first) == 1
    ]


def _column_index(column: str | None, first: list[str], has_head: bool) -> int:
    if column is None:
        if len(first) > 1:
            raise SeriesFileError(f"There are {len(first)} columns: name one by --column, {_choices(first, has_head)}.")
        return 0
    if has_head and column in first:
        return first.index(column)
    if column.isdecimal() and 1 <= int(column) <= len(first):
        return int(column) - 1
    raise SeriesFileError(f"There is no column '{column}': --column takes {_choices(first, has_head)}.")


def _choices(first: list[str], has_head: bool) -> str:
    numbers = f"a number from 1 to {len(first)}"
    return f"{', '.join(first)} or {numbers}" if has_head else numbers


def _value_of_cell(row: list[str], index: int, line: int) -> float | None:
    cell = row[index].strip() if index < len(row) else ""
    if cell.lower() in _MISSING:
        return None
    if not _is_number(cell):
        raise SeriesFileError(
            f"Line {line}, column {index + 1}: '{cell[:40]}' is not a finite number: leave it empty if missing."
        )
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False
