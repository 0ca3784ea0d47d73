"""Readings of tools that measure one host, as tests of the catalog: memory by kernel, disks by fio's job."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from benchweb.toolformats.readings import Figure, Reading

MEMORY, DISK = "memory_bandwidth", "disk_io"
_BEST, _MEAN, _LEAST = (f"memory_{which}bytes_per_second" for which in ("", "mean_", "least_"))
_ELEMENT_BYTES = 8
# The kernels of mbw and STREAM by the tools' own words, and by those of reports.
_KERNELS = {
    "memcpy": "memcpy",
    "dumb": "dumb",
    "mcblock": "mcblock",
    "固定大小拷贝": "memcpy",
    "赋值测试": "dumb",
    "随机块大小拷贝": "mcblock",
    "copy": "copy",
    "scale": "scale",
    "add": "add",
    "triad": "triad",
}
_ALL_CORES = ("多核", "多线程", "multi", "all cores")
_ONE_CORE = ("单核", "单线程", "single", "one core")
# Of a report's words the first that fits.
_PATTERNS = (
    ("混合", "randrw"),
    ("mixed", "randrw"),
    ("随机写", "randwrite"),
    ("随机读", "randread"),
    ("random write", "randwrite"),
    ("random read", "randread"),
    ("randwrite", "randwrite"),
    ("randread", "randread"),
    ("顺序写", "write"),
    ("顺序读", "read"),
)
_FIO_PATTERNS = ("randread", "randwrite", "randrw", "read", "write", "rw")
_FIO_ALIASES = {"readwrite": "rw"}
_MIXED = ("randrw", "rw")
_FIO_SETTINGS = ("block_size_bytes", "file_size_bytes", "depth", "jobs")


@dataclass(frozen=True)
class HostTest:
    """One test of a host as a tool measured it; a mixed job's reads and writes are two readings of one.

    `figures` are those of the readings that belong to it.
    """

    kind: str
    params: dict[str, Any]
    metrics: dict[str, float]
    readings: tuple[Reading, ...]
    figures: tuple[Figure, ...]


def host_tests(readings: Iterable[Reading]) -> Iterator[HostTest]:
    """Return the tests that readings of mbw, STREAM, sysbench's memory and fio are."""
    for (tool, _job), group in groupby(readings, key=_job_of):
        of_job = list(group)
        if tool == "fio":
            yield from _disk(of_job)
        elif tool in {"mbw", "stream"}:
            for reading in of_job:
                yield from _memory(reading)
        elif tool == "sysbench":
            yield from (test for reading in of_job if (test := _sysbench(reading)))


def _job_of(reading: Reading) -> tuple[str, Any]:
    """Return what the directions of one mixed job have in common; any other reading stands alone."""
    job = reading.parameters.get("job")
    is_mixed = _FIO_ALIASES.get(reading.test, reading.test) in _MIXED
    return (reading.tool, (job, reading.began_at) if is_mixed and job is not None else id(reading))


def _memory(reading: Reading) -> Iterator[HostTest]:
    cores = _cores(reading)
    array: dict[str, Any] = {}
    for name, times in (("array_mebibytes", 1024**2), ("array_elements", _ELEMENT_BYTES)):
        if isinstance(size := reading.parameters.get(name), int | float):
            array["array_bytes"] = int(size * times)
    for figure in reading.figures:
        if figure.metric != _BEST:
            continue
        if kernel := _KERNELS.get((figure.part or reading.test).lower()):
            metrics = _of_mbw(reading, figure) if reading.tool == "mbw" else {_BEST: figure.value}
            yield HostTest(MEMORY, {"kernel": kernel, **cores, **array}, metrics, (reading,), (figure,))


def _of_mbw(reading: Reading, figure: Figure) -> dict[str, float]:
    """Return the mean that mbw prints, and of its rows the best and the least."""
    found = {_BEST: reading.value("memory_best_bytes_per_second"), _LEAST: reading.value(_LEAST)}
    return {_MEAN: figure.value} | {metric: value for metric, value in found.items() if value is not None}


def _sysbench(reading: Reading) -> HostTest | None:
    """Return a test of its reads or writes: sysbench goes over one block again and again, which is its array."""
    rate = reading.value("memory_bytes_per_second")
    if rate is None:
        return None
    operation = reading.parameters.get("operation", "write")
    if operation not in {"read", "write"}:
        return None
    params: dict[str, Any] = {"kernel": operation, **_cores(reading)}
    if isinstance(block := reading.parameters.get("block_size_bytes"), int):
        params["array_bytes"] = block
    return HostTest(MEMORY, params, {_MEAN: rate}, (reading,), tuple(reading.figures))


def _cores(reading: Reading) -> dict[str, int]:
    """Return how many cores worked at once; 0 is all, as a report says it without their number.

    STREAM's rows alone don't tell; mbw and sysbench have one thread unless they are told otherwise.
    """
    threads, test = reading.parameters.get("threads"), reading.test.lower()
    if isinstance(threads, int):
        return {"cores": threads}
    if any(word in test for word in _ALL_CORES):
        return {"cores": 0}
    is_one = reading.tool != "stream" or any(word in test for word in _ONE_CORE)
    return {"cores": 1} if is_one else {}


def _disk(readings: Sequence[Reading]) -> Iterator[HostTest]:
    first = readings[0]
    test = _FIO_ALIASES.get(first.test, first.test)
    pattern = test if test in _FIO_PATTERNS else _pattern_of_words(test)
    if pattern is None:
        return
    params = {"pattern": pattern} | {name: first.parameters[name] for name in _FIO_SETTINGS if name in first.parameters}
    if "direct" in first.parameters:
        params["direct"] = first.parameters["direct"] in ("1", "true")
    if duration := first.parameters.get("duration_seconds"):
        params["duration_seconds"] = duration
    ways: dict[str, dict[str, float]] = {"read": {}, "write": {}}
    for reading in readings:
        for figure in reading.figures:
            ways[_way(reading, figure, pattern)][figure.metric] = figure.value
    metrics = _mixed(ways) if pattern in _MIXED else ways["read"] | ways["write"]
    if metrics:
        figures = tuple(figure for reading in readings for figure in reading.figures)
        yield HostTest(DISK, params, metrics, tuple(readings), figures)


def _pattern_of_words(text: str) -> str | None:
    plain = re.sub(r"[_-]", " ", text.lower())
    return next((pattern for words, pattern in _PATTERNS if words in plain), None)


def _way(reading: Reading, figure: Figure, pattern: str) -> str:
    """Return whether a figure is of reads or of writes: by fio's word, by its row's label, else by the pattern."""
    direction = str(reading.parameters.get("direction", ""))
    words = direction or figure.part.lower() or pattern
    return "write" if "write" in words or "写" in words else "read"


def _mixed(ways: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return reads and writes apart, and what they are together where both are told."""
    metrics = {f"{way}_{metric}": value for way, figures in ways.items() for metric, value in figures.items()}
    reads, writes = ways["read"], ways["write"]
    for metric in ("iops", "bytes_per_second"):
        if metric in reads and metric in writes:
            metrics[metric] = reads[metric] + writes[metric]
    mean = "latency_mean_seconds"
    if "iops" in metrics and metrics["iops"] > 0 and mean in reads and mean in writes:
        in_flight = sum(figures["iops"] * figures[mean] for figures in (reads, writes))
        metrics[mean] = in_flight / metrics["iops"]
    return metrics
