"""Turn an engine's facts document into groups of labelled lines that a person can read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from django.utils.translation import gettext_noop

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.reasons import Reason
from benchweb.hosts.facts.differences import route_text

_SYSTEM = {
    "hostname": gettext_noop("Host name"),
    "operating_system": gettext_noop("Operating system"),
    "kernel": gettext_noop("Kernel"),
    "architecture": gettext_noop("Architecture"),
    "virtualisation": gettext_noop("Virtualisation"),
    "boot_id": gettext_noop("Boot id"),
    "clock_source": gettext_noop("Clock source"),
    "engine_version": gettext_noop("Engine version"),
}
_CPU = {"model": "CPU", "logical": gettext_noop("Logical CPUs"), "governor": gettext_noop("Governor")}
_BYTES_PER_GIBIBYTE = 2**30
_SYSTEM_IN_SHORT, _CARDS_IN_SHORT = ("operating_system", "kernel", "virtualisation"), 2
_ERROR_NUMBER = re.compile(r" \(os error \d+\)")


@dataclass(frozen=True)
class FactsGroup:
    """A heading and its lines, each a label and a value."""

    title: str
    lines: list[tuple[str, str]]


def facts_groups(document: dict[str, Any]) -> list[FactsGroup]:
    """Group a facts document: system, CPU and memory, network stack, one group per interface, what is missing."""
    groups = [
        FactsGroup(gettext_noop("System"), _lines(document, _SYSTEM)),
        FactsGroup(gettext_noop("CPU and memory"), _machine(document)),
        FactsGroup(gettext_noop("Network stack"), _stack(document)),
        *(_interface(entry) for entry in document.get("interfaces") or []),
        FactsGroup(gettext_noop("Missing"), [("", reason) for reason in _missing(document)]),
    ]
    return [group for group in groups if group.lines]


def facts_summary(document: dict[str, Any]) -> str:
    """Say kernel and network cards in one line, for a list."""
    cards = [
        " ".join(part for part in (entry.get("name"), entry.get("driver"), _speed_text(entry)) if part)
        for entry in document.get("interfaces") or []
        if entry.get("name") != "lo"
    ]
    return " · ".join(part for part in (str(document.get("kernel") or ""), *cards[:2]) if part)


def facts_in_short(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what tells machines apart, as labels and values: system, CPUs, memory, two network cards."""
    cards = [entry for entry in document.get("interfaces") or [] if entry.get("name") != "lo"][:_CARDS_IN_SHORT]
    return [
        *_lines(document, {name: _SYSTEM[name] for name in _SYSTEM_IN_SHORT}),
        *_lines(document.get("cpu") or {}, _CPU),
        *_memory(document),
        *((str(card["name"]), _card(card)) for card in cards if card.get("name")),
    ]


def _card(entry: dict[str, Any]) -> str:
    mtu = f"MTU {entry['mtu']}" if entry.get("mtu") else ""
    return " · ".join(filter(None, [str(entry.get("driver") or ""), _speed_text(entry), mtu]))


def _missing(document: dict[str, Any]) -> list[str]:
    """Return what an engine could not read as reasons, by their codes where it sends them."""
    lines, codes = document.get("missing") or [], document.get("missing_data") or []
    return [
        engine_reason(str(line), data) if data else engine_reason(_plain(str(line)))
        for line, data in zip_longest(lines, codes[: len(lines)])
    ]


def _plain(reason: str) -> str:
    """Leave out the system's number of an error: its words stand before it."""
    return _ERROR_NUMBER.sub("", reason)


def _lines(document: dict[str, Any], labels: dict[str, str]) -> list[tuple[str, str]]:
    return [(label, str(document[key])) for key, label in labels.items() if document.get(key) not in (None, "")]


def _machine(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [*_lines(document.get("cpu") or {}, _CPU), *_memory(document), *_control_group(document)]


def _memory(document: dict[str, Any]) -> list[tuple[str, str]]:
    size_bytes = document.get("memory_bytes")
    return [(gettext_noop("Memory"), _gibibytes(size_bytes))] if size_bytes else []


def _gibibytes(size_bytes: float) -> str:
    return f"{size_bytes / _BYTES_PER_GIBIBYTE:.1f} GiB"


def _control_group(document: dict[str, Any]) -> list[tuple[str, str]]:
    group = document.get("control_group") or {}
    quota, limit_bytes = group.get("cpu_quota"), group.get("memory_limit_bytes")
    lines = [(gettext_noop("CPU quota of the control group"), f"{quota:g} CPU")] if quota else []
    lines += _lines(group, {"cpuset": gettext_noop("CPUs of the control group")})
    return lines + ([(gettext_noop("Memory limit of the control group"), _size(limit_bytes))] if limit_bytes else [])


def _size(size_bytes: float) -> str:
    return _gibibytes(size_bytes) if size_bytes >= _BYTES_PER_GIBIBYTE else f"{size_bytes / 2**20:.0f} MiB"


def _stack(document: dict[str, Any]) -> list[tuple[str, str]]:
    lines = _lines(document, {"congestion_control": gettext_noop("Congestion control")})
    available = document.get("congestion_controls_available") or []
    route = document.get("default_route")
    lines += [(gettext_noop("Default route"), route_text(route))] if route else []
    lines += [(gettext_noop("Congestion controls available"), ", ".join(map(str, available)))] if available else []
    return lines + [(name, str(value)) for name, value in sorted((document.get("sysctls") or {}).items())]


def _interface(entry: dict[str, Any]) -> FactsGroup:
    lines = _lines(entry, {"driver": Reason("fact_driver")})
    lines += [(Reason("fact_mtu"), f"{entry['mtu']} B")] if entry.get("mtu") else []
    lines += [(Reason("fact_speed"), _speed_text(entry))] if _speed_text(entry) else []
    physical = entry.get("physical") or []
    lines += [(Reason("fact_physical"), ", ".join(map(str, physical)))] if physical else []
    lines += [(Reason("fact_addresses"), ", ".join(map(str, entry["addresses"])))] if entry.get("addresses") else []
    offloads = entry.get("offloads") or {}
    for label, wanted in ((Reason("fact_offloads_on"), True), (Reason("fact_offloads_off"), False)):
        names = _names(offloads, wanted)
        lines += [(label, names)] if names else []
    return FactsGroup(Reason("interface", interface=entry.get("name", "")), lines)


def _names(offloads: dict[str, Any], wanted: bool) -> str:
    chosen: Iterable[str] = (name for name, value in offloads.items() if bool(value) is wanted)
    return ", ".join(sorted(chosen))


def _speed_text(entry: dict[str, Any]) -> str:
    speed_bps = entry.get("speed_bps")
    return f"{speed_bps / 1e9:g} Gbit/s" if speed_bps else ""
