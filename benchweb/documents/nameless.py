"""What of an engine's documents names nobody: numbers, and known words where they belong; other texts are left out.

A name in a known place, such as an address or an interface, becomes its pseudonym. Members that no schema has go too.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from benchweb.catalog import Parameter, catalog
from benchweb.catalog.document import CATALOG_FILE
from benchweb.documents.hidden import hidden_value, tagged
from benchweb.documents.known_words import FEATURES, OFFLOADS, SYSCTLS, WORDS

_RESULT_SCHEMA = CATALOG_FILE.with_name("result.schema.json")
# What documents have that their schema has no name for: counts of intervals, a search, and what ingest adds.
_OTHER_MEMBERS = frozenset(
    {"bytes", "units", "reverse_units", "search", "parameter", "from", "to", "at_most"}
    | {"sink_started_at", "littles_law", "in_flight", "depth"}
)
# Sentences, and what a tool printed, whatever its members are called.
_FREE_MEMBERS = frozenset({"tool_document", "summary_data", "missing_data"})
# No more than three numbers: four are an address.
_VERSION = re.compile(r"\d+(?:\.\d+){0,2}(?![\w.]*\.\d)")
_MODEL_NUMBER = re.compile(r"(?:[Ei]\d-)?\d+(?:\.\d+){0,2}[A-Z]?(?:GHz)?")
_NUMBERS = re.compile(r"[\d\s,-]*")
# As kernels call interfaces by themselves.
_KERNEL_INTERFACE = re.compile(r"lo|(?:eth|eno|ens|bond|wlan|ib)\d{1,3}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
# Base64 of what every compressed histogram begins with.
_HISTOGRAM = re.compile(r"HISTF[\w+/]*={0,2}")
_LEFT_OUT = object()


class EngineDocument(dict[str, Any]):
    """What an engine told, a part of it, or a plan's step."""


class KindParams(dict[str, Any]):
    """The parameters of a test of a kind."""

    __slots__ = ("kind",)

    def __init__(self, kind: str, params: Mapping[str, Any]) -> None:
        super().__init__(params)
        self.kind = kind


@hidden_value.register
def _(value: EngineDocument) -> dict[str, Any]:
    return nameless_document(value)


@hidden_value.register
def _(value: KindParams) -> dict[str, Any]:
    return nameless_params(value.kind, value)


def nameless_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result's, an interval's, a limit's or a host's document without names."""
    metrics, members = catalog().metrics, _members()
    kept = {name: _kept(name, value) for name, value in document.items() if name in members or name in metrics}
    if isinstance(params := document.get("params"), dict):
        kept["params"] = nameless_params(str(document.get("kind")), params)
    return {name: value for name, value in kept.items() if value is not _LEFT_OUT}


def nameless_params(kind_name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test's parameters; a text of one's own is tagged, so that trials that differ by it stay apart."""
    kind = catalog().kinds.get(kind_name)
    known = kind.series_parameters if kind else {}
    return {name: _value(known[name], value) for name, value in params.items() if name in known}


def is_chosen_freely(parameter: Parameter, value: Any) -> bool:
    """Tell whether a parameter's value is, or holds, a text that somebody chose, and so may name something."""
    match value:
        case str():
            is_known = value in WORDS or value in ("", parameter.default, *parameter.schema.get("enum", ()))
            return not is_known and not (parameter.name.endswith("cpus") and _NUMBERS.fullmatch(value))
        case list():
            return any(is_chosen_freely(parameter, item) for item in value)
        case dict():
            return nameless_document(value) != value
        case _:
            return False


def nameless_kind(name: str) -> str:
    """Return a kind's name, tagged where the catalog has none of that name."""
    return name if name in catalog().kinds else tagged("kind", name)


def _value(parameter: Parameter, value: Any) -> Any:
    match value:
        case str():
            return tagged("value", value) if is_chosen_freely(parameter, value) else value
        case list():
            return [_value(parameter, item) for item in value]
        case dict():
            return nameless_document(value)
        case _:
            return value


def _kept(member: str, value: Any) -> Any:
    match value:
        case str():
            rule = _RULES.get(member)
            return value if value == "" else (rule(value) if rule else None) or _LEFT_OUT
        case list():
            return [kept for item in value if (kept := _kept(member, item)) is not _LEFT_OUT]
        case dict():
            return nameless_document(value)
        case _:
            return value


@cache
def _members() -> frozenset[str]:
    """Return the names of all members of the engine's documents."""
    names = set(_OTHER_MEMBERS | FEATURES | OFFLOADS | SYSCTLS)
    waiting: list[Any] = [json.loads(_RESULT_SCHEMA.read_text(encoding="utf-8"))]
    while waiting:
        match waiting.pop():
            case dict() as schema:
                names.update(schema.get("properties", {}))
                waiting += schema.values()
            case list() as parts:
                waiting += parts
    return frozenset(names - _FREE_MEMBERS)


Rule = Callable[[str], str | None]


def _one_of(words: Callable[[], Collection[str]]) -> Rule:
    return lambda text: text if text in words() else None


def _fully(pattern: re.Pattern[str]) -> Rule:
    return lambda text: text if pattern.fullmatch(text) else None


def _words(text: str) -> str:
    """Keep the known words of a text, and its versions and model numbers."""
    return " ".join(word for word in text.split() if word in WORDS or _MODEL_NUMBER.fullmatch(word))


def _version(text: str) -> str | None:
    match = _VERSION.match(text)
    return match[0] if match else None


def _tagged(what: str) -> Rule:
    return lambda text: tagged(what, text)


def _interface(text: str) -> str:
    return text if _KERNEL_INTERFACE.fullmatch(text) else tagged("interface", text)


def address_pseudonym(address: str) -> str:
    """Call an IP address or a machine's name on the network the same everywhere, however long its prefix is."""
    return tagged("address", address.partition("/")[0].casefold())


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("source", "sink", "sink_own", "source_seen_by_sink"), address_pseudonym),
    **dict.fromkeys(("addresses", "reply_addresses", "gateway"), address_pseudonym),
    **dict.fromkeys(("name", "physical"), _interface),
    **dict.fromkeys(("kernel", "engine_version", "source_version", "sink_version"), _version),
    **dict.fromkeys(("architecture", "virtualisation", "clock_source", "congestion_control"), _words),
    **dict.fromkeys(("congestion_controls_available", "governor", "driver", "filesystem", "variant"), _words),
    **dict.fromkeys(("operating_system", "model", "net.core.default_qdisc"), _words),
    **dict.fromkeys((*(SYSCTLS - {"net.core.default_qdisc"}), "cpuset"), _fully(_NUMBERS)),
    **dict.fromkeys(("started_at", "sink_started_at"), _fully(_MOMENT)),
    "hostname": _tagged("machine"),
    "boot_id": _tagged("id"),
    "path": _tagged("directory"),
    "data": _fully(_HISTOGRAM),
    "encoding": _one_of(lambda: ("hdr-v2-deflate-base64",)),
    "kind": nameless_kind,
    "parameter": _one_of(lambda: catalog().document["parameters"]),
    "metric": _one_of(lambda: ("latency", *catalog().metrics)),
    "unit": _one_of(lambda: ("ns", *(metric.unit for metric in catalog().metrics.values()))),
    "flags": _one_of(lambda: catalog().flags),
    "by": _one_of(lambda: catalog().limits),
    "direction": _one_of(lambda: ("forward", "reverse", "bidirectional")),
    "family": _one_of(lambda: ("ipv4", "ipv6")),
    "clock": _one_of(lambda: ("source", "sink")),
}
