"""A run as text: each test as the tool prints it that measures the same, one below the other."""

import json
from collections.abc import Iterable, Iterator

from benchweb.toolprints import netperf_text, ping_text, wrk_text
from benchweb.toolprints.printed import Measurement

# Of what the engine measured.
_OWN_TOOL = "benchweb"
_PRINTERS = {"ping": ping_text.statistics, "http_load": wrk_text.report} | dict.fromkeys(
    netperf_text.KINDS, netperf_text.table
)


def printed(measured: Measurement) -> str:
    """Return one test with a line before it of what the tool has no column for."""
    if measured.missing:
        return f"# {measured.kind}: {measured.missing}"
    write = _PRINTERS.get(measured.kind)
    if write is None:
        return f"# {measured.kind}: neither netperf nor ping nor wrk measures it."
    return "\n".join(filter(None, [netperf_text.notes(measured), _settings(measured), write(measured)]))


def _settings(measured: Measurement) -> str:
    """Return the comment that `benchweb.toolformats.own_settings` reads; nested settings, such as a load, have none."""
    plain = {name: value for name, value in measured.given.items() if isinstance(value, bool | int | float | str)}
    return "# benchweb settings: " + json.dumps({"tool": _OWN_TOOL} | plain, ensure_ascii=False)


def run_text(title: str, measurements: Iterable[Measurement]) -> Iterator[str]:
    """Return a run, test by test; its title stands as a comment."""
    yield f"# {title}\n"
    for measured in measurements:
        yield printed(measured).rstrip("\n") + "\n\n"
