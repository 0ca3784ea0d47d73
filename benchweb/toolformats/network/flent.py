"""flent's data files (`.flent`, `.flent.gz`), formats 1 to 4: each series one figure, the mean of its samples.

flent writes null where a sample is missing and may write numbers as text; a mean is over what is there, and says of how
many.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from statistics import fmean

from benchweb.toolformats.json_values import items, mapping, number, text
from benchweb.toolformats.readings import Figure, Interval, Reading

_FACTORS = {"Mbits/s": ("bit/s", 1e6, "throughput_bps"), "ms": ("s", 1e-3, "latency_mean_seconds")}
_MOST_SERIES = 500


def recognises(document: Mapping[str, object]) -> bool:
    return isinstance(document.get("results"), dict) and "x_values" in document and "metadata" in document


def read(document: Mapping[str, object]) -> Reading:
    """Return the reading of one data file."""
    metadata = mapping(document.get("metadata"))
    reading = Reading(tool="flent", test=text(metadata.get("NAME")), version=str(document.get("version", "")))
    for key, name in (("LENGTH", "duration_seconds"), ("STEP_SIZE", "step_seconds")):
        value = number(metadata.get(key))
        if value is not None:
            reading.parameters[name] = value
    if host := text(metadata.get("HOST")):
        reading.parameters["peer"] = host
    if title := text(metadata.get("TITLE")):
        reading.remarks.append(title)
    reading.began_at = _moment(text(metadata.get("T0") or metadata.get("TIME")))
    times = [number(item) for item in items(document.get("x_values"))]
    details = mapping(metadata.get("SERIES_META"))
    for name, values in list(mapping(document.get("results")).items())[:_MOST_SERIES]:
        _series(reading, name, [number(item) for item in items(values)], times, mapping(details.get(name)))
    if not reading.figures:
        reading.error = "The file has no series with a sample."
    return reading


def _series(
    reading: Reading, name: str, values: list[float | None], times: list[float | None], details: Mapping[str, object]
) -> None:
    present = [value for value in values if value is not None]
    if not present:
        reading.remarks.append(f"{name}: no sample.")
        return
    unit = text(details.get("UNITS")) or ("ms" if "(ms)" in name or "ping" in name.lower() else "Mbits/s")
    si_unit, factor, metric = _FACTORS.get(unit, (unit, 1.0, name))
    reading.figures.append(
        Figure(
            metric,
            fmean(present) * factor,
            si_unit,
            15,
            f"mean of {len(present)} samples in {unit}",
            part=name,
            is_derived=True,
        )
    )
    if len(present) < len(values):
        reading.remarks.append(f"{name}: {len(values) - len(present)} of {len(values)} samples are missing.")
    for at, value in zip(times, values, strict=False):
        if value is not None:
            sample = Figure(
                metric, value * factor, si_unit, len(repr(value).replace(".", "")), f"{value!r} {unit}", part=name
            )
            reading.intervals.append(Interval(at, None, (sample,), part=name))


def _moment(value: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
