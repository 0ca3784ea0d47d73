"""What changed on a host between two of its facts, in words short enough for a flag on a time axis."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from django.utils.translation import get_language, gettext_lazy, pgettext
from django.utils.translation import gettext as _

from benchweb.common.cache import remember

Document = Mapping[str, Any]
# Gives documents by their digest: asked for only where words about them aren't known.
Documents = Callable[[], Mapping[str, Document]]

_PLAIN = {
    "kernel": gettext_lazy("kernel"),
    "engine_version": gettext_lazy("engine"),
    "congestion_control": gettext_lazy("congestion control"),
    "clock_source": gettext_lazy("clock source"),
    "operating_system": gettext_lazy("system"),
    "virtualisation": gettext_lazy("virtualisation"),
}
_OF_CPU = {"governor": gettext_lazy("governor"), "model": gettext_lazy("CPU"), "logical": gettext_lazy("logical CPUs")}
_OF_GROUP = {
    "cpu_quota": gettext_lazy("CPU quota of the control group"),
    "cpuset": gettext_lazy("CPUs of the control group"),
    "memory_limit_bytes": gettext_lazy("memory limit of the control group"),
}
_OF_INTERFACE = {"mtu": gettext_lazy("MTU"), "driver": gettext_lazy("driver"), "speed_bps": gettext_lazy("speed")}

# As the facts themselves are shown.
_UNITS = {"mtu": (1, "B"), "speed_bps": (1e9, "Gbit/s"), "cpu_quota": (1, "CPU"), "memory_limit_bytes": (2**20, "MiB")}


# Tuples, which take a third of the time to make: an environment's charts have hundreds.
class SeenFacts(NamedTuple):
    """One row of an endpoint's facts; its digest tells the document, but for what changes all the time."""

    digest: str
    first_seen_at: datetime
    last_seen_at: datetime


class FactChange(NamedTuple):
    """A time at which facts of an endpoint were first seen to differ, and what did."""

    at: datetime
    words: str


def fact_changes(rows: Sequence[SeenFacts], documents: Documents) -> list[FactChange]:
    """Return the changes of one endpoint in order of time."""
    language = get_language()
    return [
        FactChange(at, words)
        for (_at, before), (at, after) in pairwise(fact_turns(rows))
        if (words := _words(before.digest, after.digest, language, documents))
    ]


def fact_turns(rows: Sequence[SeenFacts]) -> list[tuple[datetime, SeenFacts]]:
    """Return one endpoint's facts in order of the times from which on they were seen.

    Equal facts are one row, however often they come: a row that outlives a later one came back after that.
    """
    ordered = sorted(rows, key=lambda row: row.first_seen_at)
    turns = [(row.first_seen_at, row) for row in ordered]
    for before, between in pairwise(ordered):
        if before.last_seen_at > between.last_seen_at:
            turns.append((between.last_seen_at, before))
    turns.sort(key=lambda turn: turn[0])
    return turns


# Facts never change, so what was said of two holds; a year of one host has some changes, and every chart marks them.
_CACHE_SIZE = 20_000
_cache: dict[tuple[str, str, str | None], str] = {}


def _words(before: str, after: str, language: str | None, documents: Documents) -> str:
    """Say what differs between two documents, which are compared once."""
    words = _cache.get((before, after, language))
    if words is None:
        found = documents()
        # Synthetic hosts may be removed between the two statements.
        if before not in found or after not in found:
            return ""
        words = pgettext("between parts of a sentence", "; ").join(differences(found[before], found[after]))
        remember(_cache, (before, after, language), words, most=_CACHE_SIZE)
    return words


def differences(before: Document, after: Document) -> list[str]:
    """Say what differs: a new kernel is one, the boot that came with it goes without saying."""
    words = list(_changed(before, after, _PLAIN))
    words += _changed(before.get("cpu") or {}, after.get("cpu") or {}, _OF_CPU)
    words += _changed(before.get("control_group") or {}, after.get("control_group") or {}, _OF_GROUP)
    if before.get("interfaces") != after.get("interfaces"):
        old, new = _by_name(before), _by_name(after)
        for name in [*old, *(name for name in new if name not in old)]:
            words += _interface(name, old.get(name), new.get(name))
    words += _changed(before.get("sysctls") or {}, after.get("sysctls") or {})
    if not words and _differs(before.get("boot_id"), after.get("boot_id")):
        return [_("rebooted")]
    return words


def _interface(name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[str]:
    if before is None or after is None:
        return [(_("%(interface)s gone") if after is None else _("%(interface)s added")) % {"interface": name}]
    words = [
        _("%(what)s on %(where)s") % {"what": each, "where": name} for each in _changed(before, after, _OF_INTERFACE)
    ]
    offloads = _changed(before.get("offloads") or {}, after.get("offloads") or {})
    return words + [_("%(what)s on %(where)s") % {"what": offload, "where": name} for offload in offloads]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], labels: Mapping[str, Any] = {}) -> Iterable[str]:
    # Most of two facts is the same: to compare it whole takes a tenth of what its parts take.
    if before == after:
        return []
    keys = labels or dict.fromkeys([*before, *after])
    return [
        f"{labels.get(key, key)} {_word(key, before[key])} → {_word(key, after[key])}"
        for key in sorted(keys)
        if _differs(before.get(key), after.get(key))
    ]


def _differs(before: Any, after: Any) -> bool:
    """A fact that one of both doesn't tell is missing, which is no change."""
    return before is not None and after is not None and before != after


def _by_name(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(each.get("name")): each for each in document.get("interfaces") or []}


def _word(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if key in _UNITS and isinstance(value, int | float):
        factor, unit = _UNITS[key]
        return f"{value / factor:g} {unit}"
    return f"{value:g}" if isinstance(value, float) else str(value)
