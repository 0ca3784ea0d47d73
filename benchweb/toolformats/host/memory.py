"""Text of mbw, STREAM and sysbench (memory and cpu, 0.4 and 1.0).

Units: mbw's MiB are 2^20 bytes, STREAM's MB 10^6 (stream.c), sysbench's 2^20 whether it writes MB (0.4) or MiB (1.0).
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from benchweb.toolformats.numbers import NUMBER, derived, figure, plain, power_of_ten
from benchweb.toolformats.readings import Interval, Lines, Reading

_MEBI = Decimal(1024**2)
_MBW_ROW = re.compile(
    rf"^(?P<number>\d+|AVG)\s+Method:\s+(?P<method>\w+)\s+Elapsed:\s+(?P<elapsed>{NUMBER})\s+MiB:\s+(?P<size>{NUMBER})\s+Copy:\s+(?P<rate>{NUMBER}|inf)\s+MiB/s"
)
_MBW_BLOCK = re.compile(r"^Using (\d+) bytes as blocks")
_MBW_HEAD = re.compile(r"^(?:Long uses|Allocating|Getting down|Allocated|Filling|MEMCPY|Doing)")
_STREAM_BEGIN = re.compile(r"^STREAM version \$Revision: (\S+)|^Function\s+(?:Best )?Rate")
_STREAM_ROW = re.compile(
    rf"^(?P<name>Copy|Scale|Add|Triad):\s+(?P<rate>{NUMBER})\s+(?P<mean>{NUMBER})\s+(?P<min>{NUMBER})\s+(?P<max>{NUMBER})"
)
_STREAM_SIZE = re.compile(r"Array size = (\d+)")
_STREAM_THREADS = re.compile(r"Number of Threads (counted|requested) = (\d+)")
_SYSBENCH_BEGIN = re.compile(r"^sysbench (\d+\.\d+\S*?):?(?:\s|$)")
_SYSBENCH = {
    "operations": re.compile(
        rf"^(?:Operations performed|Total operations):\s+\d+ \(\s*({NUMBER}) (?:ops/sec|per second)\)"
    ),
    "transferred": re.compile(rf"^{NUMBER} Mi?B transferred \(({NUMBER}) (Mi?B)/sec\)"),
    "events": re.compile(rf"^events per second:\s+({NUMBER})"),
    "total": re.compile(rf"^total time:\s+({NUMBER})s?"),
    "threads": re.compile(r"^Number of threads: (\d+)"),
    "block": re.compile(r"^(?:block size|Memory block size): (\d+)(K|KiB|B)?", re.IGNORECASE),
    "operation": re.compile(r"^(?:operation|Memory operations type): (read|write|none)"),
    "scope": re.compile(r"^(?:scope|Memory scope type): (global|local)"),
    "limit": re.compile(r"^(?:Maximum prime number checked in CPU test|Prime numbers limit): (\d+)"),
    "latency": re.compile(rf"^(min|avg|max|95th percentile|approx\.\s+95 percentile):\s+({NUMBER})(ms)?$"),
}
_LONGEST = 120


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return what mbw, STREAM or sysbench printed from `start` on."""
    line = lines[start].strip()
    if _MBW_ROW.match(line):
        return _mbw(lines, start)
    if _STREAM_BEGIN.match(line):
        return _stream(lines, start)
    if begin := _SYSBENCH_BEGIN.match(line):
        return _sysbench(lines, start, begin.group(1))
    return None


def _mbw(lines: Sequence[str], start: int) -> tuple[list[Reading], int]:
    readings: dict[str, Reading] = {}
    index = last = start
    while index < len(lines):
        line = lines[index].strip()
        if row := _MBW_ROW.match(line):
            method = row["method"]
            reading = readings.setdefault(method, Reading(tool="mbw", test=method))
            reading.note("array_mebibytes", plain(row["size"]))
            rate = figure("memory_bytes_per_second", row["rate"], "B/s", times=_MEBI, printed=f"{row['rate']} MiB/s")
            if row["number"] == "AVG":
                reading.add(rate)
            elif rate:
                reading.intervals.append(Interval(None, None, (rate,), part=row["number"]))
            last = index
        elif line and not _MBW_HEAD.match(line) and not _MBW_BLOCK.match(line):
            break
        index += 1
    for reading in readings.values():
        _add_extremes(reading)
        if not reading.figures:
            reading.error = "mbw's AVG line is missing: the output was cut off, or left it out by -a."
        reading.lines = Lines(start + 1, last + 1)
    return list(readings.values()), last + 1


def _add_extremes(reading: Reading) -> None:
    """Add the best and the least of the rows, the first one left out, beside the mean that mbw prints."""
    rows = [each for interval in reading.intervals for each in interval.figures][1:]
    if rows and reading.figures:
        for metric, pick in (("memory_best_bytes_per_second", max), ("memory_least_bytes_per_second", min)):
            extreme = pick(rows, key=lambda row: row.value)
            reading.add(derived(metric, extreme.value, "B/s", (extreme,)))


def _stream(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    reading = Reading(tool="stream", test="STREAM")
    last = start
    for index in range(start, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        if row := _STREAM_ROW.match(line):
            name = row["name"].lower()
            reading.add(
                figure(
                    "memory_bytes_per_second",
                    row["rate"],
                    "B/s",
                    times=power_of_ten(6),
                    part=name,
                    printed=f"{row['rate']} MB/s",
                )
            )
            last = index
        elif size := _STREAM_SIZE.search(line):
            reading.parameters["array_elements"] = int(size.group(1))
        elif threads := _STREAM_THREADS.search(line):
            reading.parameters["threads"] = int(threads.group(2))
        elif begin := re.match(r"^STREAM version \$Revision: (\S+)", line):
            if index > start:
                break
            reading.version = begin.group(1)
        elif reading.figures and line:
            if line.startswith(("---", "Solution Validates", "Failed")):
                last = index
            if line.startswith("Failed"):
                reading.error = "STREAM's results didn't validate."
            if not line.startswith("---"):
                break
    if not reading.figures:
        return None
    if reading.version:
        # Built without OpenMP it counts no threads, and has one.
        reading.parameters.setdefault("threads", 1)
    reading.lines = Lines(start + 1, last + 1)
    return [reading], last + 1


def _sysbench(lines: Sequence[str], start: int, version: str) -> tuple[list[Reading], int] | None:
    reading = Reading(tool="sysbench", test="", version=version)
    index, last = start + 1, start
    while index < min(len(lines), start + _LONGEST):
        line = lines[index].strip()
        if _SYSBENCH_BEGIN.match(line):
            break
        if _take_sysbench(reading, line):
            last = index
        index += 1
    if reading.figure("memory_bytes_per_second"):
        reading.test = "memory"
    if not reading.test:
        # fileio's, oltp's and others' latencies are none of the processor's.
        return None
    if not reading.figures:
        reading.error = "The test has no summary: it was cut off."
    reading.lines = Lines(start + 1, last + 1)
    return [reading], last + 1


def _take_sysbench(reading: Reading, line: str) -> bool:
    for name, pattern in _SYSBENCH.items():
        match = pattern.match(line)
        if not match:
            continue
        text = match.group(1)
        if name == "operations":
            reading.add(figure("operations_per_second", text, "operations/s"))
        elif name == "transferred":
            reading.add(
                figure("memory_bytes_per_second", text, "B/s", times=_MEBI, printed=f"{text} {match.group(2)}/sec")
            )
        elif name == "events":
            reading.add(figure("events_per_second", text, "events/s"))
        elif name == "total":
            reading.add(figure("total_seconds", text, "s", printed=f"{text}s"))
        elif name == "threads":
            reading.parameters["threads"] = int(text)
        elif name == "block":
            reading.parameters["block_size_bytes"] = int(text) * (
                1024 if (match.group(2) or "").upper().startswith("K") else 1
            )
        elif name in {"operation", "scope"}:
            reading.test = "memory"
            reading.parameters[name] = text
        elif name == "limit":
            reading.test = "cpu"
            reading.parameters["primes_up_to"] = int(text)
        else:
            metric = {"min": "min", "avg": "mean", "max": "max"}.get(text, "p95")
            value = match.group(2)
            reading.add(figure(f"latency_{metric}_seconds", value, "s", times=power_of_ten(-3), printed=f"{value} ms"))
        return True
    return False
