"""What a test of one host was made on, and by whom: memory or a disk, by the engine or a tool that it started."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from benchweb.charts.run.figures import TrialFigure

# What the engine calls its own way to measure.
_NATIVE = "native"


def measured_on(document: Mapping[str, Any]) -> list[TrialFigure]:
    """Return what a result tells of it, the tool first; nothing of a test between two hosts."""
    test = document.get("host_test")
    if not test:
        return []
    by = _("the engine itself") if test["variant"] == _NATIVE else test["variant"]
    return [TrialFigure(_("Measured by"), by), *_memory(test.get("memory") or {}), *_disk(test.get("disk") or {})]


def _memory(memory: Mapping[str, Any]) -> list[TrialFigure]:
    if not memory:
        return []
    cores = [
        TrialFigure(_("Best pass, CPU {number}").format(number=core["cpu"]), core["bytes_per_second"], "B/s")
        for core in memory["cores"]
    ]
    return [
        TrialFigure(_("Array size"), memory["array_bytes"], "B"),
        TrialFigure(_("Last-level caches together"), memory.get("cache_bytes"), "B"),
        TrialFigure(_("Counted in a pass"), memory["pass_bytes"], "B"),
        TrialFigure(_("Passes"), len(memory["pass_seconds"])),
        *(cores if len(cores) > 1 else []),
    ]


def _disk(disk: Mapping[str, Any]) -> list[TrialFigure]:
    if not disk:
        return []
    return [
        TrialFigure(_("Directory or device"), disk["path"]),
        TrialFigure(_("Filesystem"), disk["filesystem"]),
        TrialFigure(_("Test file"), disk["size_bytes"], "B"),
    ]
