"""What differs between two facts of a host, fact by fact, in words short enough for a flag on a time axis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.hosts.facts.interfaces import compared

Document = Mapping[str, Any]

# What changes can be filtered by; `setting` is a sysctl, `interface` one that came or went.
FACTS: Mapping[str, Any] = {
    "kernel": gettext_lazy("Kernel"),
    "engine_version": gettext_lazy("Engine version"),
    "operating_system": gettext_lazy("Operating system"),
    "mtu": gettext_lazy("MTU"),
    "driver": gettext_lazy("Driver"),
    "speed": gettext_lazy("Speed"),
    "offload": gettext_lazy("Offloads"),
    "interface": gettext_lazy("Interfaces"),
    "route": gettext_lazy("Default route"),
    "congestion_control": gettext_lazy("Congestion control"),
    "setting": gettext_lazy("Kernel settings"),
    "governor": gettext_lazy("Governor"),
    "cpu": gettext_lazy("CPU"),
    "control_group": gettext_lazy("Control group"),
    "virtualisation": gettext_lazy("Virtualisation"),
    "clock_source": gettext_lazy("Clock source"),
    "boot": gettext_lazy("Reboot"),
}

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
_LABELS: Mapping[str, Any] = {
    **_PLAIN,
    **_OF_CPU,
    **_OF_GROUP,
    **_OF_INTERFACE,
    "default_route": gettext_lazy("default route"),
}
# By the key in a document, where it isn't the fact's own name.
_FACT_OF_KEY = {"model": "cpu", "logical": "cpu", "speed_bps": "speed"} | dict.fromkeys(_OF_GROUP, "control_group")

# As the facts themselves are shown.
_UNITS = {"mtu": (1, "B"), "speed_bps": (1e9, "Gbit/s"), "cpu_quota": (1, "CPU"), "memory_limit_bytes": (2**20, "MiB")}


# A tuple, which takes a third of the time to make: an environment's charts have hundreds.
class FactDifference(NamedTuple):
    """A fact that differs: which of FACTS, its key in a document, of which interface, both values, and in words.

    A value is None where there is none: of a reboot, and of an interface that came or went.
    """

    fact: str
    key: str
    interface: str
    before: Any
    after: Any
    words: str


def fact_differences(
    before: Document, after: Document, used: frozenset[str] = frozenset()
) -> tuple[FactDifference, ...]:
    """Return what differs: a new kernel is one, the boot that came with it goes without saying.

    Interfaces of containers and virtual machines are left out, unless they are among `used` (addresses and devices).
    """
    changed = [
        *_changed(before, after, labels=_PLAIN),
        *_changed(before.get("cpu") or {}, after.get("cpu") or {}, labels=_OF_CPU),
        *_changed(before.get("control_group") or {}, after.get("control_group") or {}, labels=_OF_GROUP),
        *_interfaces(before, after, used),
        *_route(before.get("default_route"), after.get("default_route")),
        *_changed(before.get("sysctls") or {}, after.get("sysctls") or {}, fact="setting"),
    ]
    if not changed and _differs(before.get("boot_id"), after.get("boot_id")):
        return (FactDifference("boot", "boot_id", "", None, None, _("rebooted")),)
    return tuple(changed)


def differences(before: Document, after: Document, used: frozenset[str] = frozenset()) -> list[str]:
    """Say what differs."""
    return [difference.words for difference in fact_differences(before, after, used)]


def changed_words(alike: Sequence[FactDifference]) -> str:
    """Say a change to one value that several hosts made: from which value and where, if that is the same on all."""
    if len(words := {difference.words for difference in alike}) == 1:
        return words.pop()
    key, after = alike[0].key, alike[0].after
    befores = {_word(key, difference.before) for difference in alike}
    old = f" {befores.pop()}" if len(befores) == 1 else ""
    return f"{_LABELS.get(key, key)}{old} → {_word(key, after)}"


def _interfaces(before: Document, after: Document, used: frozenset[str]) -> Iterator[FactDifference]:
    if before.get("interfaces") == after.get("interfaces"):
        return
    old, new = _by_name(before, used), _by_name(after, used)
    for name in [*old, *(name for name in new if name not in old)]:
        yield from _interface(name, old.get(name), new.get(name))


def _interface(
    name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> Iterable[FactDifference]:
    if before is None or after is None:
        words = (_("%(interface)s gone") if after is None else _("%(interface)s added")) % {"interface": name}
        return [FactDifference("interface", "name", name, None, None, words)]
    changed = _changed(before, after, labels=_OF_INTERFACE)
    offloads = _changed(before.get("offloads") or {}, after.get("offloads") or {}, fact="offload")
    return [_on(name, each) for each in (*changed, *offloads)]


def _route(before: Document | None, after: Document | None) -> Iterator[FactDifference]:
    if before and after and before != after:
        old, new = route_text(before), route_text(after)
        yield FactDifference("route", "default_route", "", old, new, f"{_LABELS['default_route']} {old} → {new}")


def route_text(route: Document) -> str:
    """Say where a default route leads: its next hop's address, if it has one, and the interface."""
    gateway, interface = route.get("gateway"), str(route.get("name"))
    return f"{gateway} ({interface})" if gateway else interface


def _on(interface: str, difference: FactDifference) -> FactDifference:
    words = _("%(what)s on %(where)s") % {"what": difference.words, "where": interface}
    return difference._replace(interface=interface, words=words)


def _changed(
    before: Mapping[str, Any], after: Mapping[str, Any], *, labels: Mapping[str, Any] = {}, fact: str = ""
) -> list[FactDifference]:
    # Most of two facts is the same: to compare it whole takes a tenth of what its parts take.
    if before == after:
        return []
    keys = labels or dict.fromkeys([*before, *after])
    return [
        FactDifference(
            fact or _FACT_OF_KEY.get(key, key),
            key,
            "",
            before[key],
            after[key],
            f"{labels.get(key, key)} {_word(key, before[key])} → {_word(key, after[key])}",
        )
        for key in sorted(keys)
        if _differs(before.get(key), after.get(key))
    ]


def _differs(before: Any, after: Any) -> bool:
    """A fact that one of both doesn't tell is missing, which is no change."""
    return before is not None and after is not None and before != after


def _by_name(document: Document, used: frozenset[str]) -> dict[str, Mapping[str, Any]]:
    return {str(interface.get("name")): interface for interface in compared(document, used)}


def _word(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if key in _UNITS and isinstance(value, int | float):
        factor, unit = _UNITS[key]
        return f"{value / factor:g} {unit}"
    return f"{value:g}" if isinstance(value, float) else str(value)
