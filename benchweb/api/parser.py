"""Parse JSON bodies and query strings so that nothing reaches a view that the database would choke on."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from benchweb.api.problems import Problem, invalid

MAXIMUM_BODY_BYTES = 2 * 1024 * 1024
# A plan is 5 deep; a body that is deeper than this is no request of ours.
MAXIMUM_DEPTH = 32
# No object of ours has more; without a bound, a hundred thousand unknown fields would each be told of.
MAXIMUM_MEMBERS = 200
# Bounds of PostgreSQL's bigint: identifiers and counts beyond them are refused before a query is made.
MAXIMUM_INTEGER = 2**63 - 1


class StrictParser(Parser):
    """JSON as RFC 8259 has it (no NaN), bounded in size and depth, text that PostgreSQL can store."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        body = request.body
        if len(body) > MAXIMUM_BODY_BYTES:
            raise too_large()
        document = _decoded_body(body)
        if not isinstance(document, dict):
            raise invalid("", f"The body is a JSON {_type_name(document)}, but must be an object, such as {{...}}.")
        for path, text in _texts(document):
            _check_text(path, text)
        return document

    def parse_querydict(
        self, data: MultiValueDict[str, str], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        for name, values in data.lists():
            for value in (name, *values):
                _check_text(name.replace("\0", "?"), value)
        return super().parse_querydict(data, list_fields, request)


def too_large() -> Problem:
    """Answer 413 with the limit named."""
    return Problem(413, f"The body is larger than {MAXIMUM_BODY_BYTES:,} bytes: send less at once.")


def _decoded_body(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8 text: byte {error.start} can't be decoded.") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Problem(400, f"The body is not valid JSON: {error.msg} at {where}.") from error
    except ValueError as error:
        # Python refuses integers of over 4,300 digits, and _finite refuses 1e999.
        raise Problem(400, "The body holds a number that is too large.") from error


def _texts(document: Any) -> Iterator[tuple[str, str]]:
    """Walk every key and string with its path, without recursion, for the depth is the sender's choice."""
    stack: list[tuple[str, int, Any]] = [("", 0, document)]
    while stack:
        path, depth, value = stack.pop()
        if depth > MAXIMUM_DEPTH:
            raise _too_deep()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            if len(value) > MAXIMUM_MEMBERS:
                message = f"The object has {len(value):,} fields, but at most {MAXIMUM_MEMBERS} are allowed."
                raise invalid(path, message)
            for key, item in value.items():
                yield path, key
                stack.append((_joined_path(path, key), depth + 1, item))
        elif isinstance(value, list):
            stack.extend((_joined_path(path, str(index)), depth + 1, item) for index, item in enumerate(value))


def _check_text(path: str, text: str) -> None:
    if "\0" in text:
        raise invalid(path, "The text holds a NUL character (\\u0000), which can't be stored: leave it out.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise invalid(path, "The text holds half a surrogate pair, which is no character: leave it out.") from None


def _joined_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _too_deep() -> Problem:
    return Problem(400, f"The body's JSON is nested more than {MAXIMUM_DEPTH} deep.")


def _refuse_constant(name: str) -> NoReturn:
    raise Problem(400, f"The body holds {name}, which is not valid JSON: give a number or null.")


def _finite(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(text)
    return value


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "boolean", str: "string", list: "array"}.get(type(value), "number")
