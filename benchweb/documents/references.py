"""Texts that know what they name: hosts, environments, runs; a writer that hides names puts pseudonyms there."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple, Protocol

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason
from benchweb.catalog.translation import reason_text

_Named = Literal["host", "endpoint", "mode", "uplink", "environment", "plan", "schedule", "team", "kind", "value"]
_Numbered = Literal["run", "pair", "campaign", "alert"]
ReferenceKind = _Named | _Numbered | Literal["address", "text"]
# Both ways in which a translated sentence says where something goes.
_PLACE = re.compile(r"%\((\w+)\)s|\{(\w+)\}")


# Frozen it would take three times as long to make, and a chart has hundreds.
class Reference(NamedTuple):
    """Something that is named: two of one kind and key are the same; a "text" is what somebody wrote freely."""

    kind: ReferenceKind
    key: str
    name: str


Part = str | Reference


class Label(str):
    """A text that knows the references it is made of; wherever a text is wanted it is one, as a Reason is."""

    __slots__ = ("parts",)

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> "Label":
        """Put parts in a row."""
        flat = tuple(chain.from_iterable(part.parts if isinstance(part, Label) else (part,) for part in parts))
        label = super().__new__(cls, "".join(map(_written, flat)))
        label.parts = flat
        return label

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> "Label":
        return Label(self, other)

    def __radd__(self, other: str) -> "Label":
        return Label(other, self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it be copied and pickled as what it is."""
        return Label, self.parts


class NamingReason(Reason):
    """A reason that knows what the names refer to that its texts are."""

    __slots__ = ("names",)

    names: Mapping[str, Label]

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it be copied and pickled as what it is."""
        return reason_naming, (Reason(self.code, **self.params), self.names)


class NamedEnd(Protocol):
    """An endpoint, as far as a text names it."""

    @property
    def host_id(self) -> int: ...
    @property
    def host_name(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def network_mode(self) -> str: ...


class NamedPair(Protocol):
    """A pair, as far as a text names it."""

    @property
    def source(self) -> NamedEnd: ...
    @property
    def sink(self) -> NamedEnd: ...
    @property
    def is_one_host(self) -> bool: ...


def joined_label(parts: Iterable[Part], joint: str = " · ") -> Label:
    """Put parts in a row with something between them; empty ones are left out."""
    present = [part for part in parts if part]
    return Label(*(piece for index, part in enumerate(present) for piece in ([joint, part] if index else [part])))


def worded(sentence: str, **named: Part) -> Label:
    """Put parts into a translated sentence, where it has `%(name)s` or `{name}`."""
    split = _PLACE.split(sentence)
    # A text, then the name in either form, over and over.
    names = [first or second for first, second in zip(split[1::3], split[2::3], strict=True)]
    pieces: list[Part] = [piece for name, text in zip(names, split[3::3], strict=True) for piece in (named[name], text)]
    return Label(split[0], *pieces)


def host_ref(host_id: int, name: str) -> Label:
    """Name a host."""
    return Label(Reference("host", str(host_id), name))


def endpoint_ref(end: NamedEnd) -> Label:
    """Name an endpoint by its host, and by its own name or mode where that says more."""
    host = host_ref(end.host_id, end.host_name)
    own = end.name or end.network_mode
    if own == end.host_name:
        return host
    return Label(host, " (", Reference("endpoint", own, own) if end.name else mode_ref(own), ")")


def pair_ref(pair: NamedPair) -> Label:
    """Name a pair by its endpoints; one host alone by its own."""
    source = endpoint_ref(pair.source)
    return source if pair.is_one_host else Label(source, " → ", endpoint_ref(pair.sink))


def mode_ref(mode: str) -> Label:
    """Name a network mode; that of a host itself is no name."""
    return Label(mode if mode == "host" else Reference("mode", mode, mode))


def uplink_ref(name: str) -> Label:
    """Name what hosts share on their way."""
    return Label(Reference("uplink", name, name))


def environment_ref(name: str) -> Label:
    """Name an environment."""
    return Label(Reference("environment", name, name))


def plan_ref(name: str) -> Label:
    """Name a plan."""
    return Label(Reference("plan", name, name))


def schedule_ref(name: str) -> Label:
    """Name a schedule."""
    return Label(Reference("schedule", name, name))


def team_ref(name: str) -> Label:
    """Name a team."""
    return Label(Reference("team", name, name))


def version_ref(plan: str, number: int) -> Label:
    """Name a version of a plan."""
    return plan_ref(plan) + f" v{number}"


def run_ref(run_id: int) -> Label:
    """Name a run by its number."""
    return numbered_ref("run", run_id)


def numbered_ref(kind: _Numbered, row_id: int) -> Label:
    """Name something by its number here."""
    return Label(Reference(kind, str(row_id), str(row_id)))


def kind_ref(name: str) -> str:
    """Name a kind of test; one of the catalog's is no name."""
    return name if name in catalog().kinds else Label(Reference("kind", name, name))


def address_ref(address: str, written: str = "") -> Label:
    """Name an IP address or a machine on the network, the same however long its prefix is."""
    return Label(Reference("address", address.partition("/")[0].casefold(), written or address))


def value_ref(text: str, written: str = "") -> Label:
    """Take a parameter's value that somebody chose freely: it names something, and others may be the same."""
    return Label(Reference("value", text, written or text))


def free_text(text: str) -> Label:
    """Take a text that somebody wrote, or that came from a machine: it may name anything."""
    return Label(Reference("text", "", text))


def reason_naming(reason: str, names: Mapping[str, Label]) -> str:
    """Return a reason that knows what its names refer to; one of before reasons had codes is a free text."""
    if not isinstance(reason, Reason):
        return free_text(reason) if reason else ""
    naming = NamingReason(reason.code, **reason.params)
    naming.names = names
    return naming


def reason_part(reason: str) -> str:
    """Return a reason as it is, in English; one of before reasons had codes is a free text."""
    return reason if isinstance(reason, Reason) or not reason else free_text(reason)


def reason_label(reason: str, names: Mapping[str, Label] = {}) -> Label:
    """Say a reason in the reader's language; one of before reasons had codes is a free text."""
    if not reason:
        return Label()
    return Label(reason_naming(reason, names)) if isinstance(reason, Reason) else free_text(reason_text(reason))


def _written(part: Part) -> str:
    if isinstance(part, Reference):
        return part.name
    return reason_text(part) if isinstance(part, Reason) else str(part)
