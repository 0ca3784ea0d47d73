"""A reason as data: a code of benchweb.catalog.messages with its parameters. As a text it is its English sentence.

It is stored as that sentence, for logs, searches and exports, and beside it as JSON, from which pages say it in the
reader's language. Rows of before bear the sentence alone.
"""

from collections.abc import Iterable
from typing import Any

from benchweb.catalog.messages import MESSAGES
from benchweb.common.storable import storable_text

# Reasons in a row; what stands between them says the joint: one of JOINTS.
JOINED = "joined"
JOINTS = (" ", ". ", "; ", ": ", ", ")
# A reason within reasons; nothing real is nested deeper.
_MAXIMUM_DEPTH = 32


class Reason(str):
    """A sentence in English that knows its code and parameters; those may be reasons themselves."""

    __slots__ = ("code", "params")

    code: str
    params: dict[str, Any]

    def __new__(cls, code: str, /, **params: Any) -> "Reason":
        """Make a reason of texts, numbers and other reasons; raise KeyError for an unknown code."""
        storable = {name: _storable(value) for name, value in params.items()}
        text = storable["joint"].join(storable["parts"]) if code == JOINED else MESSAGES[code].format(**storable)
        reason = super().__new__(cls, text)
        reason.code, reason.params = code, storable
        return reason

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it be copied and pickled as what it is."""
        return _made, (self.code, self.params)


def _made(code: str, params: dict[str, Any]) -> Reason:
    return Reason(code, **params)


def joined(parts: Iterable[str], joint: str = " ") -> str:
    """Put reasons and other texts in a row; nothing for none, the part itself for a single one."""
    present = [sub_reason for part in parts if part for sub_reason in _parts_of(part, joint)]
    if not present:
        return ""
    return present[0] if len(present) == 1 else Reason(JOINED, parts=present, joint=joint)


def _parts_of(part: str, joint: str) -> list[str]:
    """Return the parts of what is joined in the same way already, so that rows of rows are one."""
    if isinstance(part, Reason) and part.code == JOINED and part.params["joint"] == joint:
        return list(part.params["parts"])
    return [part]


def reason_data(reason: str) -> dict[str, Any] | None:
    """Return a reason as JSON: {"code", "params"}; None for a text that is no reason."""
    return {"code": reason.code, "params": _as_json(reason.params)} if isinstance(reason, Reason) else None


def reason_of(text: str, data: Any) -> str:
    """Return the reason that was stored as a text and as JSON; the text where no such reason is known by now."""
    try:
        return _parsed(data, _MAXIMUM_DEPTH) if data else text
    except (KeyError, TypeError, ValueError, AttributeError):
        return text


def reason_of_error(error: BaseException) -> str:
    """Return the reason that an error was raised with, else what it says."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Reason) else str(error)


class ReasonOf:
    """The reason of a model or row that keeps it in two fields: `why = ReasonOf("reason")`."""

    def __init__(self, field: str) -> None:
        self._field = field

    def __get__(self, instance: Any, owner: type) -> str:
        if instance is None:
            raise AttributeError(self._field)
        return reason_of(getattr(instance, self._field), getattr(instance, f"{self._field}_data"))

    def __set__(self, instance: Any, reason: str) -> None:
        for field, value in reason_fields(self._field, reason).items():
            setattr(instance, field, value)


def reason_fields(field: str, reason: str) -> dict[str, Any]:
    """Return the values of a model's two fields that keep a reason: its sentence, and its data."""
    return {field: storable_text(reason), f"{field}_data": reason_data(reason)}


def reason_items(field: str, reason: str) -> dict[str, Any]:
    """Return a reason as documents have it: its English sentence, its code and parameters; a text alone has none."""
    data = reason_data(reason) or {"code": None, "params": None}
    return {field: str(reason), f"{field}_code": data["code"], f"{field}_params": data["params"]}


def _storable(value: Any) -> Any:
    if value is None or isinstance(value, Reason | bool | int | float):
        return value
    return [_storable(item) for item in value] if isinstance(value, list) else storable_text(str(value))


def _as_json(value: Any) -> Any:
    match value:
        case Reason():
            return reason_data(value)
        case dict():
            return {name: _as_json(item) for name, item in value.items()}
        case list():
            return [_as_json(item) for item in value]
        case _:
            return value


def _parsed(data: Any, depth: int) -> Reason:
    """Read a reason; of one within it that can't be read nothing is left out, but the whole is no reason."""
    if depth == 0:
        raise ValueError("too deep")
    params = data.get("params") or {}
    return Reason(data["code"], **{name: _parameter(value, depth - 1) for name, value in params.items()})


def _parameter(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        return [_parameter(item, depth) for item in value]
    return _parsed(value, depth) if isinstance(value, dict) else value
