"""A document for strangers: pseudonyms in the places of references, without free texts and the dashboard's ids."""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import singledispatch
from string import Formatter
from typing import Any, TypeVar, cast

from django.conf import settings

from benchweb.catalog import catalog
from benchweb.catalog.messages import MESSAGES
from benchweb.catalog.reasons import JOINED, JOINTS, Reason, joined
from benchweb.catalog.translation import reason_text
from benchweb.documents.charts import ChartLevel, ChartSeries, Measured
from benchweb.documents.document import DocumentSection, PlacedId, RowId
from benchweb.documents.references import Label, NamingReason, Part, Reference

# 25 bits: among the few hosts of a report two never look like one.
_TAG_CHARACTERS = 5
# In the place of what somebody wrote, which may name anything.
LEFT_OUT = "…"
# Of a reason, the numbers that are ids of this dashboard.
_IDS = frozenset({"run", "before"})
_TIMES = frozenset({"since", "until", "start_before", "again_at"})
_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?::\d\d)?(?: UTC)?")
Written = TypeVar("Written")


def tagged(what: str, real: str) -> str:
    """Return the pseudonym of something, such as `host-x7k2q`: a keyed hash, so that guesses can't be tried out."""
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"pseudonym:{what}:{real}".encode(), hashlib.sha256)
    return f"{what}-{base64.b32encode(digest).decode().lower()[:_TAG_CHARACTERS]}"


def pseudonyms_of(names: Mapping[str, Label]) -> dict[str, str]:
    """Return the pseudonyms of names by what they refer to."""
    return {name: hidden(label) for name, label in names.items()}


def host_pseudonym(host_id: int) -> str:
    """Call a host the same in every share."""
    return tagged("host", str(host_id))


def hidden(document: Written) -> Written:
    """Return the same document without names, in the active language; it has the same pseudonyms as any other."""
    return cast(Written, hidden_value(document))


def hidden_reason(reason: str, pseudonyms: Mapping[str, str] = {}) -> str:
    """Return a reason with its numbers and times, and with pseudonyms for the names that are mapped to some.

    Whatever else is a text in it is left out; one without a code is a text as a whole.
    """
    if not isinstance(reason, Reason):
        return LEFT_OUT if reason else ""
    if reason.code == JOINED:
        joint = reason.params["joint"] if reason.params["joint"] in JOINTS else JOINTS[0]
        return joined((hidden_reason(part, pseudonyms) for part in reason.params["parts"]), joint)
    said = {name for _text, name, _format, _conversion in Formatter().parse(MESSAGES[reason.code]) if name}
    params = {name: _parameter(name, reason.params[name], pseudonyms) for name in said & reason.params.keys()}
    return Reason(reason.code, **params)


def _parameter(name: str, value: Any, pseudonyms: Mapping[str, str]) -> Any:
    match value:
        case Reason():
            return hidden_reason(value, pseudonyms)
        case str():
            is_known = (name == "kind" and value in catalog().kinds) or (name in _TIMES and _TIME.fullmatch(value))
            return value if is_known else pseudonyms.get(value, LEFT_OUT)
        case list():
            return [_parameter(name, item, pseudonyms) for item in value]
        case _:
            return LEFT_OUT if name in _IDS else value


@singledispatch
def hidden_value(value: Any) -> Any:
    """Return a part of a document without names; what is hidden in a way of its own registers here."""
    return hidden_fields(value) if is_dataclass(value) else value


@hidden_value.register
def _(value: Label) -> str:
    return "".join(map(_part, value.parts))


@hidden_value.register
def _(value: Reason) -> str:
    return reason_text(hidden_reason(value))


@hidden_value.register
def _(value: NamingReason) -> str:
    return reason_text(hidden_reason(value, pseudonyms_of(value.names)))


@hidden_value.register
def _(_value: RowId) -> None:
    return None


@hidden_value.register
def _(value: PlacedId) -> int:
    return value.place


@hidden_value.register
def _(value: Measured) -> Measured:
    return value._replace(run=None)


@hidden_value.register
def _(value: DocumentSection) -> Any:
    # What its author wrote is a free text.
    return hidden_fields(replace(value, text=""))


@hidden_value.register
def _(value: ChartSeries) -> Any:
    of = tagged("series", value.of) if value.of else ""
    return hidden_fields(replace(value, id=tagged("series", value.id), of=of, ids={}))


@hidden_value.register
def _(value: ChartLevel) -> ChartLevel:
    return replace(value, of=tagged("series", value.of))


@hidden_value.register
def _(value: dict) -> dict[str, Any]:  # type: ignore[type-arg]
    return {key: hidden_value(item) for key, item in value.items()}


@hidden_value.register
def _(value: list | tuple) -> list[Any]:  # type: ignore[type-arg]
    return [hidden_value(item) for item in value]


def hidden_fields(value: Any) -> Any:
    """Return a dataclass whose fields are without names."""
    return replace(value, **{field.name: hidden_value(getattr(value, field.name)) for field in fields(value)})


def _part(part: Part) -> str:
    if not isinstance(part, Reference):
        return cast(str, hidden_value(part))
    return LEFT_OUT if part.kind == "text" else tagged(part.kind, part.key)
