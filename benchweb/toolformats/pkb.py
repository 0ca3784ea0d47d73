"""PerfKitBenchmarker's samples, in a list or one a line: each a result of its own benchmark.

Which of a tool's tests a sample is of its name alone tells, so that none is taken for one of the catalog's kinds.
"""

import re
from collections.abc import Mapping

from benchweb.toolformats.json_values import json_figure, mapping, number, text
from benchweb.toolformats.numbers import moment_of_epoch
from benchweb.toolformats.readings import Reading

_MEMBERS = frozenset({"metric", "value", "unit", "test", "metadata"})
# The metric by the sample's unit, in SI, and the power of ten that makes it; a small b is a bit.
_UNITS: Mapping[str, tuple[str, str, int]] = {
    "bits/sec": ("throughput_bps", "bit/s", 0),
    **dict.fromkeys(("Mbits/sec", "Mbits/s", "Mbps", "mbps"), ("throughput_bps", "bit/s", 6)),
    **dict.fromkeys(("Gbits/sec", "Gbits/s", "Gbps", "gbps"), ("throughput_bps", "bit/s", 9)),
    "transactions_per_second": ("transactions_per_second", "transactions/s", 0),
    "us": ("latency_seconds", "s", -6),
    "microseconds": ("latency_seconds", "s", -6),
    "ms": ("latency_seconds", "s", -3),
    "milliseconds": ("latency_seconds", "s", -3),
}
# What of the environment tells one series from another.
_SETTINGS = ("ip_type", "sending_zone", "receiving_zone", "sending_thread_count")
_LONGEST_NAME = 20
_NO_NAME = re.compile(r"[^a-z0-9_]+")


def recognises(document: Mapping[str, object]) -> bool:
    """Tell whether a document is a sample."""
    return document.keys() >= _MEMBERS and isinstance(document["metric"], str) and number(document["value"]) is not None


def read(document: Mapping[str, object]) -> list[Reading]:
    """Return a sample as a result; none of what has another unit, such as how long all took."""
    known = _UNITS.get(text(document["unit"]).strip())
    tool = _NO_NAME.sub("_", text(document["test"]).lower())[:_LONGEST_NAME]
    if known is None or not tool:
        return []
    metric, unit, exponent = known
    settings = mapping(document["metadata"])
    reading = Reading(tool=tool, test=text(document["metric"]))
    for name in _SETTINGS:
        if isinstance(value := settings.get(name), str | int):
            reading.parameters[name] = value
    reading.add(json_figure(metric, document["value"], unit, exponent))
    reading.began_at = moment_of_epoch(number(document.get("timestamp")) or 0)
    return [reading] if reading.figures else []
