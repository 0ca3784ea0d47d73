"""fio's JSON (`--output-format=json`, `json+`), 2.x with µs and 3.x with ns, one reading a job and direction."""

from collections.abc import Mapping
from datetime import UTC, datetime

from benchweb.toolformats.host.littles_law import check_together
from benchweb.toolformats.json_values import items, json_figure, mapping, number, text
from benchweb.toolformats.numbers import figure
from benchweb.toolformats.readings import Reading

Json = Mapping[str, object]
DIRECTIONS = ("read", "write", "trim")
PERCENTILES = {50.0: "p50", 90.0: "p90", 99.0: "p99", 99.9: "p999"}
# The metric's name before the phase's statistics: submission, completion, both.
PHASES = {"lat": "latency", "clat": "completion_latency", "slat": "submission_latency"}
_SYNCHRONOUS = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "null"}
_ALL = 100.0
_SIZES = {"k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def recognises(document: Json) -> bool:
    return "fio version" in document or (isinstance(document.get("jobs"), list) and "global options" in document)


def read(document: Json) -> list[Reading]:
    """Return a reading for each direction of each job that moved data."""
    version = text(document.get("fio version")).removeprefix("fio-")
    shared = mapping(document.get("global options"))
    readings: list[Reading] = []
    for job in items(document.get("jobs")):
        options = {**shared, **mapping(mapping(job).get("job options"))}
        directions = [
            name for name in DIRECTIONS if (number(mapping(mapping(job).get(name)).get("total_ios")) or 0) > 0
        ]
        if not directions:
            directions = [name for name in DIRECTIONS if (number(mapping(mapping(job).get(name)).get("iops")) or 0) > 0]
        if number(mapping(mapping(job).get("iodepth_level")).get("1")) == _ALL:
            # However many were asked for, one was in flight at a time.
            options["iodepth"] = "1"
        of_job = [_direction(mapping(job), name, options, version) for name in directions]
        _check(of_job, options)
        for reading in of_job:
            reading.began_at = _began(document, mapping(job))
        readings += of_job
    return readings


def _direction(job: Json, name: str, options: Json, version: str) -> Reading:
    moved = mapping(job.get(name))
    # Without any option the job's name is all that tells what it does.
    pattern = text(options.get("rw")) or text(options.get("readwrite")) or "read"
    reading = Reading(tool="fio", test=pattern if options else text(job.get("jobname")) or name, version=version)
    reading.parameters.update(job=text(job.get("jobname")), direction=name)
    _parameters(reading, options, moved)
    reading.add(json_figure("iops", moved.get("iops"), "operations/s"))
    bytes_per_second = moved.get("bw_bytes")
    if number(bytes_per_second) is not None:
        reading.add(json_figure("bytes_per_second", bytes_per_second, "B/s"))
    elif (kibibytes := number(moved.get("bw"))) is not None:
        reading.add(figure("bytes_per_second", repr(kibibytes), "B/s", times=1024, printed=f"{kibibytes:g} KiB/s"))
    for phase, metric in PHASES.items():
        for suffix, exponent in (("_ns", -9), ("", -6)):
            statistics = mapping(moved.get(phase + suffix))
            if statistics:
                _statistics(reading, metric, statistics, exponent)
                break
    error = number(job.get("error"))
    if error:
        reading.error = f"fio ended the job with error {error:.0f}."
    return reading


def _parameters(reading: Reading, options: Json, moved: Json) -> None:
    for key, name in (("iodepth", "depth"), ("numjobs", "jobs")):
        value = number(options.get(key))
        if value is not None:
            reading.parameters[name] = int(value)
        elif options:
            # A document names every option that was set.
            reading.parameters[name] = 1
    if isinstance(depth := reading.parameters.get("depth"), int):
        reading.parameters["depth"] = depth_in_effect(text(options.get("ioengine")), depth)
    for key, name in (("bs", "block_size_bytes"), ("size", "file_size_bytes")):
        if size := size_of(text(options.get(key))):
            reading.parameters[name] = size
    if options:
        buffered = text(options.get("buffered"))
        reading.parameters["direct"] = "1" if buffered == "0" else "0"
    for key in ("ioengine", "direct", "filename"):
        if value_text := text(options.get(key)):
            reading.parameters[key] = value_text
    runtime = number(moved.get("runtime"))
    if runtime:
        reading.parameters["duration_seconds"] = runtime / 1000


def _statistics(reading: Reading, metric: str, statistics: Json, exponent: int) -> None:
    # fio prints all zeros for a phase that it didn't measure.
    if not number(statistics.get("max")):
        return
    for key, name in (("min", "min"), ("mean", "mean"), ("max", "max"), ("stddev", "stddev")):
        reading.add(json_figure(f"{metric}_{name}_seconds", statistics.get(key), "s", exponent))
    for key, value in mapping(statistics.get("percentile")).items():
        percent = number(key)
        if percent in PERCENTILES:
            reading.add(json_figure(f"{metric}_{PERCENTILES[percent]}_seconds", value, "s", exponent))


def _check(readings: list[Reading], options: Json) -> None:
    """Say where the directions of a job together break Little's law; fio's own depth is 1, of mixed jobs it is said."""
    depth = number(options.get("iodepth")) or (1.0 if len(readings) == 1 and options else 0.0)
    engine = text(options.get("ioengine"))
    depth = float(depth_in_effect(engine, int(depth)))
    check_together(readings, depth * (number(options.get("numjobs")) or 1.0))


def depth_in_effect(engine: str, depth: int) -> int:
    """Return how many operations of a job are in flight: a synchronous engine has one, whatever is asked for."""
    return 1 if engine in _SYNCHRONOUS else depth


def moment_of_text(text: str) -> datetime | None:
    """Return the moment of "Thu Jan  1 00:00:00 2026"; None for another text."""
    try:
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def size_of(value: str) -> int | None:
    """Return the bytes of fio's "4k", "128KiB" or "4096"; of "4k,8k" the first."""
    lowered = value.strip().lower().split(",")[0].removesuffix("ib").removesuffix("b")
    times = _SIZES.get(lowered[-1:], 1)
    plain = number(lowered[:-1] if times > 1 else lowered)
    return int(plain * times) if plain and 0 < plain * times < 2**50 else None


def _began(document: Json, job: Json) -> datetime | None:
    """Return when a job began, as newer fio says it; older ones say when all of them ended, the last job right before.

    A direction's runtime is that of the longest of a job's processes; `job_runtime` is the sum of those of a group.
    """
    began = number(job.get("job_start"))
    if began is not None:
        return _moment(began / 1000)
    milliseconds = number(document.get("timestamp_ms"))
    ended = milliseconds / 1000 if milliseconds else number(document.get("timestamp"))
    ran = [number(mapping(job.get(name)).get("runtime")) or 0.0 for name in DIRECTIONS]
    return _moment(ended - max(ran) / 1000) if ended else None


def _moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, tz=UTC) if 0 < seconds < 1e11 else None
