"""ApacheBench's text, and the percentiles that `-e` writes.

By its source (httpd's support/ab.c): "[Kbytes/sec]" are 1,024 bytes, headers included; times of connections are whole
milliseconds, of all requests, connecting included; "Non-2xx" counts redirections too. A request without an answer is a
complete one as well, and one whose document differs from the first in length is a failed one.
"""

import re
from collections.abc import Callable, Sequence

from benchweb.toolformats.network.http_answers import add_failures, remark_other_rate, why_failed
from benchweb.toolformats.numbers import NUMBER, figure, percentile_name, plain, power_of_ten
from benchweb.toolformats.readings import Lines, Reading

_BANNER = "This is ApacheBench, Version"
_BEGIN = re.compile(rf"^(?:{_BANNER}|Benchmarking \S.{{0,300}} ?\(be patient\)|Server (?:Software|Hostname):)")
# Where a head was left out, as far as the rate follows that only ab prints so.
_BEHEADED = re.compile(r"^(?:Server Port|Document Path|Concurrency Level):\s")
_VERSION = re.compile(r"^This is ApacheBench, Version (?P<version>\S+)")
_SETTING = re.compile(
    r"^(?P<name>Server Hostname|Server Port|Document Path|Document Length|SSL/TLS Protocol|Number of workers"
    rf"|Concurrency Level|Time taken for tests(?=:\s+{NUMBER} seconds$)):\s+(?P<value>\S.*)$"
)
_COUNT = re.compile(
    r"^(?P<name>Complete requests|Failed requests|Write errors|Non-2xx responses|Keep-Alive requests"
    r"|Total transferred|HTML transferred|Total body sent):\s+(?P<count>\d+)(?: bytes)?$"
)
_FAILURES = re.compile(r"^\(Connect: (\d+), (?:Receive: (\d+), )?Length: (\d+), Exceptions: (\d+)\)$")
_RATE = re.compile(rf"^Requests per second:\s+({NUMBER}) \[#/sec\] \(mean\)$")
_PER_REQUEST = re.compile(rf"^Time per request:\s+({NUMBER}) \[ms\] \(mean\)$")
_TRANSFER = re.compile(rf"^Transfer rate:\s+({NUMBER}) \[Kbytes/sec\] received$")
# Least, mean and its deviation, median and most; with -S least, mean and most.
_TOTAL = re.compile(r"^Total:\s+(\d+)\s+(\d+)\s+(?:(\d+\.\d+)\s+(\d+)\s+)?(\d+)$")
_PERCENTILE = re.compile(r"^(\d{1,3})%\s+(\d+)(?: \(longest request\))?$")
_DOUBT = re.compile(r"^(?:WARNING|ERROR): The median and mean for ")
_FAULT = re.compile(
    r"\b(?P<what>(?:apr_\w{1,40}(?:\(\))?:|apr_\w{1,40}\(\) for |SSL \w{1,40} failed).{0,200} \(\d+\)\.?)$"
)
_OTHERS = re.compile(
    r"^(?:Copyright |Licensed to |Completed \d+ requests|Finished \d+ requests|Test aborted after|Total of \d+ requests"
    r"|Server (?:Software|Temp Key)|TLS Server Name:|Document Length:|Concurrency achieved:|Rampup delay:"
    r"|Number of requests:|Keep-Alive aborts:|Time per request:|Connection Times|min\s+(?:mean|avg)"
    r"|(?:Connect|Processing|Waiting):\s|Percentage of the requests|\d+\.\d+ kb/s (?:sent|total)|deviation apart"
    r"|These results are|Send request|INFO: |LOG: |\.\.done|\^C|$)"
)
_CSV_HEAD = "Percentage served,Time in ms"
_CSV_ROW = re.compile(rf"^(\d{{1,3}}),({NUMBER})$")
# Looked for first, for nearly every line of a text begins by none.
_FIRST_WORDS = (_BANNER, "Benchmarking ", "Server ", "Document Path", "Concurrency Level", _CSV_HEAD)
# Lines of a test, with its progress, and from a head that was left out to the rate.
_LONGEST, _TO_RATE = 400, 24
_NO_SUMMARY = "The test has no summary: it was cut off."
_PARAMETERS = {
    "Server Hostname": "host",
    "Server Port": "port",
    "SSL/TLS Protocol": "tls",
    "Document Path": "path",
    "Document Length": "response_size_bytes",
    "Number of workers": "threads",
    "Concurrency Level": "connections",
    "Time taken for tests": "duration_seconds",
}
_TEXTS = {"host", "tls", "path"}
_COUNTED = {
    "Complete requests": ("requests", "requests"),
    "Failed requests": ("failed_requests", "requests"),
    "Write errors": ("write_errors", "errors"),
    "Non-2xx responses": ("other_responses", "responses"),
    "Keep-Alive requests": ("kept_alive_requests", "requests"),
    "Total transferred": ("received_bytes", "B"),
}


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test that begins at `start`, or percentiles alone as `-e` writes them."""
    line = lines[start].strip()
    if not line.startswith(_FIRST_WORDS):
        return None
    if line == _CSV_HEAD:
        return _percentiles(lines, start)
    if not _BEGIN.match(line) and not _is_beheaded(lines, start):
        return None
    reading = Reading(tool="ab", test="HTTP", kind="http_load")
    last = start
    for index in range(start, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        if index > start and _is_next(line, reading):
            break
        if fault := _FAULT.search(line):
            reading.error = reading.error or fault["what"]
        elif not _take(line, reading):
            break
        last = index if line else last
    _finish(reading, [line.strip() for line in lines[start : last + 1]])
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _is_beheaded(lines: Sequence[str], start: int) -> bool:
    if not _BEHEADED.match(lines[start].strip()):
        return False
    return any(_RATE.match(line.strip()) for line in lines[start : start + _TO_RATE])


def _is_next(line: str, reading: Reading) -> bool:
    """Whether the next test begins: a banner, a setting again, or a head behind what is measured."""
    if line.startswith(_BANNER) or (reading.figures and _BEGIN.match(line)):
        return True
    setting = _SETTING.match(line)
    return bool(setting and _PARAMETERS[setting["name"]] in reading.parameters)


def _take(line: str, reading: Reading) -> bool:
    """Take a line; return False for what is none of ab's."""
    for pattern, take in _TAKERS:
        if match := pattern.match(line):
            take(reading, match)
            return True
    return bool(_BEGIN.match(line) or _OTHERS.match(line))


def _version(reading: Reading, match: re.Match[str]) -> None:
    reading.version = match["version"]


def _setting(reading: Reading, match: re.Match[str]) -> None:
    name, value = _PARAMETERS[match["name"]], match["value"]
    number = value.split()[0]
    if name in _TEXTS:
        reading.parameters[name] = value
    elif name == "duration_seconds":
        reading.note(name, plain(value.removesuffix(" seconds")))
    elif number.isdecimal():
        reading.parameters[name] = int(number)


def _count(reading: Reading, match: re.Match[str]) -> None:
    if counted := _COUNTED.get(match["name"]):
        reading.add(figure(counted[0], match["count"], counted[1]))


def _failures(reading: Reading, match: re.Match[str]) -> None:
    names = ("connect_errors", "read_errors", "length_errors", "exceptions")
    for metric, text in zip(names, match.groups(), strict=True):
        if text is not None:
            reading.add(figure(metric, text, "errors"))


def _rate(reading: Reading, match: re.Match[str]) -> None:
    reading.add(figure("requests_per_second", match[1], "requests/s"))


def _per_request(reading: Reading, match: re.Match[str]) -> None:
    """Keep the time by which ab divides: connections times seconds by requests, measured of no request."""
    reading.add(figure("seconds_per_request", match[1], "s", times=power_of_ten(-3), printed=f"{match[1]} ms"))


def _transfer(reading: Reading, match: re.Match[str]) -> None:
    reading.add(figure("received_bytes_per_second", match[1], "B/s", times=1024, printed=f"{match[1]} Kbytes/sec"))


def _total(reading: Reading, match: re.Match[str]) -> None:
    for name, text in zip(("min", "mean", "stddev", "p50", "max"), match.groups(), strict=True):
        _add_time(reading, name, text)


def _percentile(reading: Reading, match: re.Match[str]) -> None:
    name = percentile_name(match[1])
    _add_time(reading, "max" if name == "p100" else name, match[2])


def _add_time(reading: Reading, name: str, text: str | None) -> None:
    metric = f"latency_{name}_seconds"
    if text is not None and not reading.figure(metric):
        reading.add(figure(metric, text, "s", times=power_of_ten(-3), printed=f"{text} ms"))


def _doubt(reading: Reading, match: re.Match[str]) -> None:
    reading.remarks.append(match.string)


_TAKERS: tuple[tuple[re.Pattern[str], Callable[[Reading, re.Match[str]], None]], ...] = (
    (_VERSION, _version),
    (_SETTING, _setting),
    (_COUNT, _count),
    (_FAILURES, _failures),
    (_RATE, _rate),
    (_PER_REQUEST, _per_request),
    (_TRANSFER, _transfer),
    (_TOTAL, _total),
    (_PERCENTILE, _percentile),
    (_DOUBT, _doubt),
)


def _finish(reading: Reading, lines: Sequence[str]) -> None:
    """Add what follows from all lines: the address, what failed, and whether the test came to its end."""
    _name_url(reading)
    if reading.figure("requests"):
        _count_failures(reading)
    reading.error = reading.error or _why_failed(reading, lines)
    if reading.figures and not reading.value("kept_alive_requests"):
        reading.remarks.append("Each request opened a connection of its own: none was kept alive.")
    remark_other_rate(reading)


def _name_url(reading: Reading) -> None:
    """Put the address together from its parts."""
    taken = reading.parameters
    host, port, path = taken.pop("host", ""), taken.pop("port", None), taken.pop("path", "")
    is_tls = bool(taken.pop("tls", ""))
    if not host:
        return
    usual = 443 if is_tls else 80
    at = f"{host}:{port}" if port not in (None, usual) else str(host)
    taken["url"] = f"{'https' if is_tls else 'http'}://{at}{path}"


def _count_failures(reading: Reading) -> None:
    """Count what failed of the complete requests; of a document's length alone only a remark is made."""
    requests = int(reading.value("requests") or 0)
    names = ("connect_errors", "read_errors", "write_errors", "exceptions")
    connect, read_errors, write, exceptions = (int(reading.value(name) or 0) for name in names)
    # Of one request both may be counted.
    unread = max(read_errors, exceptions)
    reading.add(figure("errors", str(connect + unread + write), "errors"))
    others, unanswered = int(reading.value("other_responses") or 0), min(unread, requests)
    add_failures(reading, min(others, requests - unanswered), unanswered)
    lengths = reading.value("length_errors")
    if lengths:
        reading.remarks.append(f"{lengths:,.0f} documents differ from the first in length: ab alone calls them failed.")
    if lengths or others:
        reading.parameters.pop("response_size_bytes", None)


def _why_failed(reading: Reading, lines: Sequence[str]) -> str:
    """Say why an output is no measurement: it was cut off, or no request was answered as it should."""
    requests = reading.value("requests")
    if requests == 0:
        return "No request was completed."
    if not reading.figure("received_bytes_per_second"):
        return _NO_SUMMARY
    if reading.value("received_bytes") == 0:
        return "No byte of an answer arrived: the rate measures nothing."
    if requests and reading.value("other_responses") == requests:
        return f"All {requests:,.0f} responses were other than 2xx: their rate measures nothing."
    if _is_interrupted(lines):
        return "The test was interrupted before its last request."
    return why_failed(reading, None, None)


def _is_interrupted(lines: Sequence[str]) -> bool:
    """Whether progress is told and its end isn't; of a file that took standard output alone neither is."""
    if any(line.startswith("Finished ") or line.endswith("..done") for line in lines):
        return False
    return any(line.startswith("Completed ") or line.endswith("(be patient)...^C") for line in lines)


def _percentiles(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the percentiles of `-e`, to a thousandth of a millisecond; 0 is the least and 100 the most."""
    reading = Reading(tool="ab", test="HTTP", kind="http_load")
    index = start + 1
    while index < len(lines) and (row := _CSV_ROW.match(lines[index].strip())):
        _add_time(reading, {"0": "min", "100": "max"}.get(row[1]) or percentile_name(row[1]), row[2])
        index += 1
    if not reading.figures:
        return None
    if not reading.figure("latency_max_seconds"):
        reading.error = _NO_SUMMARY
    reading.lines = Lines(start + 1, index)
    return reading, index
