"""fio's text, 2.x and 3.x: a job's head, and for each direction rate, latencies and percentiles.

Units: 2.x writes KB and means 1,024 bytes unless `kb_base=1000`; 3.x writes KiB. Latencies have their unit beside.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from benchweb.toolformats.host.fio_json import PERCENTILES, PHASES, depth_in_effect, moment_of_text, size_of
from benchweb.toolformats.host.littles_law import check_together
from benchweb.toolformats.numbers import NUMBER, binary_prefix, decimal_prefix, figure, seconds_of
from benchweb.toolformats.readings import Lines, Reading

_SETTING = re.compile(
    r"^(?P<name>\S+): \(g=\d+\): rw=(?P<rw>\w+), bs=(?:\(R\) )?(?P<bs>[\d.]++\w*+)(?P<rest>.*?)"
    r"ioengine=(?P<engine>\w+), iodepth=(?P<depth>\d+)"
)
_JOB = re.compile(
    r"^(?P<name>[^:]+): \(groupid=\d+, jobs=(?P<jobs>\d+)\): err=\s*(?P<error>-?\d+)(?: \((?P<why>[^)]*)\))?"
    r"(?:: pid=\d+: (?P<at>\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}))?"
)
_DIRECTION = re.compile(r"^(?P<name>read|write|trim)\s*:\s*(?P<rest>(?:io=|IOPS=).*)$")
_IOPS = re.compile(rf"iops=\s*({NUMBER})([kKMG]?)", re.IGNORECASE)
_BANDWIDTH = re.compile(rf"bw=\s*({NUMBER})\s?([KMGT]?)(i?)B/s(?: \(({NUMBER})([kMGT]?)B/s\))?", re.IGNORECASE)
_RUNTIME = re.compile(r"(?:runt(?:ime)?=\s*|/)(\d+)\s?msec", re.IGNORECASE)
_LATENCY = re.compile(
    rf"^(?P<phase>[sc]?lat)\s*\((?P<unit>[num]sec)\)\s*:\s*min=\s*(?P<min>{NUMBER})(?P<min_k>[kKM]?)\s*,\s*max=\s*(?P<max>{NUMBER})(?P<max_k>[kKM]?)"
    rf"\s*,\s*avg=\s*(?P<mean>{NUMBER})(?P<mean_k>[kKM]?)\s*,\s*stdev=\s*(?P<stddev>{NUMBER})(?P<stddev_k>[kKM]?)"
)
_PERCENTILE_HEAD = re.compile(r"^(?P<phase>[sc]?lat) percentiles \((?P<unit>[num]sec)\):")
_PERCENTILE = re.compile(rf"({NUMBER})th=\[\s*({NUMBER})([kKM]?)\]")
_GROUP = re.compile(r"^(?:Run status group|Disk stats|(?:READ|WRITE|TRIM|MIXED): |\S+: ios=)")
_LONGEST_GROUP = 40
_ONE_AT_A_TIME = re.compile(r"^IO depths\s*: 1=100\.0%")
_VERSION = re.compile(r"^fio[- ](?P<version>[\d.]+\S*)$")
# A job's text has no more lines; a file of many jobs has a head for each.
_LONGEST = 600
_MOST_BLANKS = 3


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return the readings of the job whose `(groupid=…)` line stands at `start`, one for each direction."""
    job = _JOB.match(lines[start].strip())
    if not job:
        return None
    setting, version = _before(lines, start, job["name"])
    readings: list[Reading] = []
    phase, last, blanks, is_single = "", start, 0, False
    unit = Decimal(1)
    for index in range(start + 1, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        blanks = 0 if line else blanks + 1
        if blanks > _MOST_BLANKS or _JOB.match(line) or line.startswith(("Run status group", "Disk stats", "{")):
            break
        if direction := _DIRECTION.match(line):
            readings.append(_direction(direction, setting, version, job))
        elif _ONE_AT_A_TIME.match(line):
            is_single = True
        elif readings and (head := _PERCENTILE_HEAD.match(line)):
            phase, unit = head["phase"], seconds_of(head["unit"])
        elif readings and line.startswith("|"):
            _percentiles(readings[-1], line, phase, unit)
        elif readings and (latency := _LATENCY.match(line)):
            _latency(readings[-1], latency)
        last = index if line else last
    _finish(readings, job, setting, is_single=is_single)
    for reading in readings:
        reading.lines = Lines(start + 1, last + 1)
    if not readings and job["error"] not in {"0", ""}:
        readings.append(_failed(setting, version, job, Lines(start + 1, last + 1)))
    return (readings, _after_group(lines, last + 1)) if readings else None


def _failed(setting: re.Match[str] | None, version: str, job: re.Match[str], lines: Lines) -> Reading:
    """Return the reading of a job that moved nothing before its error."""
    reading = Reading(tool="fio", test=setting["rw"] if setting else "", version=version, lines=lines)
    reading.error = _error(job)
    return reading


def _error(job: re.Match[str]) -> str:
    return f"fio ended the job with error {job['error']}{': ' + job['why'] if job['why'] else ''}."


def _after_group(lines: Sequence[str], index: int) -> int:
    """Return where the sums of a group of jobs and its disks' end, which the jobs' own figures make up."""
    end = index
    for number in range(index, min(len(lines), index + _LONGEST_GROUP)):
        line = lines[number].strip()
        if line and not _GROUP.match(line):
            break
        end = number + 1 if line else end
    return end


def _finish(readings: list[Reading], job: re.Match[str], setting: re.Match[str] | None, *, is_single: bool) -> None:
    """Note when the job began, and its depth in effect: however many were asked for, one may have been in flight."""
    began = _began(readings, job)
    for reading in readings:
        reading.began_at = began
        if is_single and "depth" in reading.parameters:
            reading.parameters["depth"] = 1
    if setting:
        depth = 1 if is_single else depth_in_effect(setting["engine"], int(setting["depth"]))
        check_together(readings, depth * int(job["jobs"]))
    if began:
        for reading in readings:
            reading.remarks.append("The time is the host's own, without its zone: taken as UTC.")


def _began(readings: Sequence[Reading], job: re.Match[str]) -> datetime | None:
    """Return when the job began: what fio prints is when it ended, by the host's own clock.

    None where it would have begun before the first year: a number is garbled.
    """
    ended = moment_of_text(job["at"] or "")
    seconds = max((float(reading.parameters.get("duration_seconds", 0)) for reading in readings), default=0.0)
    try:
        return ended - timedelta(seconds=seconds) if ended else None
    except OverflowError:
        return None


def _before(lines: Sequence[str], start: int, name: str) -> tuple[re.Match[str] | None, str]:
    """Return the job's setting and fio's version from the lines above it."""
    setting, version = None, ""
    for line in reversed(lines[max(0, start - _LONGEST) : start]):
        bare = line.strip()
        if found := _SETTING.match(bare):
            if found["name"] == name or setting is None:
                setting = found
            if found["name"] == name:
                break
    for line in reversed(lines[max(0, start - _LONGEST) : start]):
        if found := _VERSION.match(line.strip()):
            version = found["version"]
            break
    return setting, version


def _direction(direction: re.Match[str], setting: re.Match[str] | None, version: str, job: re.Match[str]) -> Reading:
    reading = Reading(tool="fio", test=setting["rw"] if setting else direction["name"], version=version)
    reading.parameters.update(job=job["name"], direction=direction["name"], jobs=int(job["jobs"]))
    if setting:
        reading.parameters.update(
            depth=depth_in_effect(setting["engine"], int(setting["depth"])), ioengine=setting["engine"]
        )
        if size := size_of(setting["bs"].split("-")[0]):
            reading.parameters["block_size_bytes"] = size
    rest = direction["rest"]
    if iops := _IOPS.search(rest):
        text, prefix = iops.groups()
        reading.add(figure("iops", text, "operations/s", times=decimal_prefix(prefix), printed=text + prefix))
    if bandwidth := _BANDWIDTH.search(rest):
        text, prefix, _, exact_text, exact_prefix = bandwidth.groups()
        if exact_text and len(exact_text) > len(text):
            times = decimal_prefix(exact_prefix)
            reading.add(
                figure("bytes_per_second", exact_text, "B/s", times=times, printed=f"{exact_text}{exact_prefix}B/s")
            )
        else:
            reading.add(
                figure(
                    "bytes_per_second", text, "B/s", times=binary_prefix(prefix), printed=bandwidth.group(0)[3:].strip()
                )
            )
    if runtime := _RUNTIME.search(rest):
        reading.parameters["duration_seconds"] = int(runtime.group(1)) / 1000
    if job["error"] not in {"0", ""}:
        reading.error = _error(job)
    return reading


def _latency(reading: Reading, latency: re.Match[str]) -> None:
    unit, metric = seconds_of(latency["unit"]), PHASES[latency["phase"]]
    for name in ("min", "mean", "max", "stddev"):
        text, prefix = latency[name], latency[f"{name}_k"]
        printed = f"{text}{prefix} {latency['unit']}"
        reading.add(figure(f"{metric}_{name}_seconds", text, "s", times=unit * decimal_prefix(prefix), printed=printed))


def _percentiles(reading: Reading, line: str, phase: str, unit: Decimal) -> None:
    metric = PHASES.get(phase)
    if not metric:
        return
    for percent, text, prefix in _PERCENTILE.findall(line):
        if name := PERCENTILES.get(float(percent)):
            times = unit * decimal_prefix(prefix)
            reading.add(figure(f"{metric}_{name}_seconds", text, "s", times=times, printed=text + prefix))
