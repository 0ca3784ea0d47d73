"""wrk's and wrk2's text: threads' statistics, `--latency`, socket errors, responses that were none of 2xx or 3xx."""

import re
from collections.abc import Callable, Sequence

from benchweb.toolformats.network.http_answers import why_failed
from benchweb.toolformats.numbers import (
    NUMBER,
    binary_prefix,
    decimal_prefix,
    figure,
    percentile_name,
    plain,
    power_of_ten,
    seconds_of,
)
from benchweb.toolformats.readings import Figure, Lines, Reading

_BEGIN = re.compile(r"^Running (?P<duration>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m|h) test @\s*(?P<url>\S*)")
_SHAPE = re.compile(r"^(?P<threads>\d+) threads? and (?P<connections>\d+) connections?")
_STATISTICS = re.compile(
    r"^(?P<what>Latency|Req/Sec)\s+(?P<mean>\S+)\s+(?P<stddev>\S+)\s+(?P<max>\S+)\s+(?P<within>\S+)%?$"
)
_PERCENTILE = re.compile(r"^(?P<percent>\d+(?:\.\d+)?)%\s+(?P<time>\S+)$")
_TOTAL = re.compile(
    rf"^(?P<requests>\d+) requests in (?P<time>{NUMBER})(?P<unit>us|ms|s|m|h), "
    rf"(?P<amount>{NUMBER})(?P<prefix>[KMGT]?)B read$"
)
_SOCKETS = re.compile(r"^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_RESPONSES = re.compile(r"^Non-2xx or 3xx responses: (\d+)")
_RATE = re.compile(rf"^Requests/sec:\s+({NUMBER})")
_TRANSFER = re.compile(rf"^Transfer/sec:\s+({NUMBER})([KMGT]?)B")
_TIME = re.compile(rf"^({NUMBER})(us|ms|s|m|h)$")
_COUNT = re.compile(rf"^({NUMBER})([kKMG]?)$")
_HEADS = re.compile(
    r"^(?:Thread Stats|Latency Distribution|Thread calibration|Initialised|Detailed Percentile"
    r"|Value\s|#\[|----|Uncorrected|[\d.]+\s+[\d.]+\s+\d+)"
)
_LONGEST = 4000


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test that begins at `start`, by `Running … test @ …` or by its shape where that was left out."""
    begin = _BEGIN.match(lines[start].strip())
    if not begin and not _is_beheaded(lines, start):
        return None
    reading = Reading(tool="wrk", test="HTTP", kind="http_load")
    if begin:
        reading.parameters["duration_seconds"] = float(begin["duration"]) * float(seconds_of(begin["unit"]))
        if begin["url"]:
            reading.parameters["url"] = begin["url"]
    else:
        _take(lines[start].strip(), reading)
    last, has_ended = start, False
    for index in range(start + 1, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        if not line:
            continue
        if not _take(line, reading):
            break
        last = index
        if line.startswith("Transfer/sec"):
            has_ended = True
            break
    if not has_ended:
        reading.error = "The output ends before Requests/sec: the test was cut off."
    elif not reading.error:
        asked, took = _seconds(reading, "duration_seconds"), _seconds(reading, "measured_seconds")
        reading.error = why_failed(reading, asked, took)
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _seconds(reading: Reading, name: str) -> float | None:
    value = reading.parameters.get(name)
    return value if isinstance(value, float) else None


def _is_beheaded(lines: Sequence[str], start: int) -> bool:
    following = lines[start + 1].strip() if start + 1 < len(lines) else ""
    return bool(_SHAPE.match(lines[start].strip())) and following.startswith(("Thread Stats", "Thread calibration"))


def _take(line: str, reading: Reading) -> bool:
    """Take one line; return False for what is none of wrk's."""
    for pattern, take in _TAKERS:
        if match := pattern.match(line):
            take(reading, match)
            return True
    if _HEADS.match(line):
        if line.startswith(("Thread calibration", "Initialised")) or "HdrHistogram" in line:
            reading.tool = "wrk2"
        return True
    return False


def _shape(reading: Reading, match: re.Match[str]) -> None:
    reading.parameters.update(threads=int(match["threads"]), connections=int(match["connections"]))


def _statistics(reading: Reading, match: re.Match[str]) -> None:
    is_latency = match["what"] == "Latency"
    for name, group in (("mean", "mean"), ("stddev", "stddev"), ("max", "max")):
        if is_latency:
            reading.add(time(f"latency_{name}_seconds", match[group]))
        else:
            reading.add(_count(f"thread_requests_per_second_{name}", match[group]))
    within = "latency_within_stddev_ratio" if is_latency else "thread_requests_within_stddev_ratio"
    text = match["within"].rstrip("%")
    reading.add(figure(within, text, "ratio", times=power_of_ten(-2), printed=f"{text}%"))


def _percentile(reading: Reading, match: re.Match[str]) -> None:
    name = percentile_name(match["percent"])
    name = "max" if name == "p100" else name
    if not reading.figure(f"latency_{name}_seconds"):
        reading.add(time(f"latency_{name}_seconds", match["time"]))


def _total(reading: Reading, match: re.Match[str]) -> None:
    reading.add(figure("requests", match["requests"], "requests"))
    times = binary_prefix(match["prefix"])
    reading.add(
        figure("received_bytes", match["amount"], "B", times=times, printed=f"{match['amount']}{match['prefix']}B")
    )
    if (took := plain(match["time"])) is not None:
        reading.parameters["measured_seconds"] = took * float(seconds_of(match["unit"]))


def _sockets(reading: Reading, match: re.Match[str]) -> None:
    names = ("connect_errors", "read_errors", "write_errors", "timeout_errors")
    for metric, text in zip(names, match.groups(), strict=True):
        reading.add(figure(metric, text, "errors"))


def _responses(reading: Reading, match: re.Match[str]) -> None:
    reading.add(figure("failed_responses", match.group(1), "responses"))


def _rate(reading: Reading, match: re.Match[str]) -> None:
    reading.add(figure("requests_per_second", match.group(1), "requests/s"))


def _transfer(reading: Reading, match: re.Match[str]) -> None:
    text, prefix = match.groups()
    reading.add(
        figure("received_bytes_per_second", text, "B/s", times=binary_prefix(prefix), printed=f"{text}{prefix}B")
    )


def time(metric: str, text: str) -> Figure | None:
    """Return a time as wrk prints it, us, ms, s, m and h in one column; None for -nan."""
    match = _TIME.match(text)
    return figure(metric, match.group(1), "s", times=seconds_of(match.group(2)), printed=text) if match else None


def _count(metric: str, text: str) -> Figure | None:
    match = _COUNT.match(text)
    return (
        figure(metric, match.group(1), "requests/s", times=decimal_prefix(match.group(2)), printed=text)
        if match
        else None
    )


_TAKERS: tuple[tuple[re.Pattern[str], Callable[[Reading, re.Match[str]], None]], ...] = (
    (_SHAPE, _shape),
    (_STATISTICS, _statistics),
    (_PERCENTILE, _percentile),
    (_TOTAL, _total),
    (_SOCKETS, _sockets),
    (_RESPONSES, _responses),
    (_RATE, _rate),
    (_TRANSFER, _transfer),
)
