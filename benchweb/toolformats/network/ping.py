"""ping's text: iputils, BusyBox, BSD and macOS, Windows in English and Chinese; -q, duplicates, unreachable hosts."""

import re
from collections.abc import Sequence

from benchweb.toolformats.known import percentage_remark
from benchweb.toolformats.numbers import NUMBER, figure, moment_of_epoch, power_of_ten
from benchweb.toolformats.readings import Figure, Interval, Lines, Reading

_BEGIN = re.compile(
    r"^(?:PING6?\s?\(?(?P<host>[^\s(]+)|Pinging (?P<windows>\S+)|正在 Ping (?P<chinese>\S+)).*?"
    r"(?:(?P<bytes>\d+)(?:\(\d+\))? (?:data )?bytes|with (?P<windows_bytes>\d+) bytes"
    r"|具有 (?P<chinese_bytes>\d+) 字节|$)"
)
_SEQUENCE = re.compile(r"(?:icmp_seq|seq|icmp_req)[=:]\s?(\d+)")
_TIME = re.compile(r"(?:time|时间)\s?(?P<less><?)=?\s?(?P<time>\d+(?:\.\d+)?)\s?(?P<unit>ms|us|毫秒)", re.IGNORECASE)
# `ping -D`.
_EPOCH = re.compile(r"^\[(?P<at>\d{9,11}\.\d+)\] ")
_REPLY = re.compile(r"^(?:\[\d+\.\d+\] )?(?:\d+ bytes from|Reply from|来自)\s")
_STATISTICS = re.compile(r"^(?:--- .+ ping6? statistics ---|Ping statistics for|.+ 的 Ping 统计信息)")
_COUNTS = re.compile(
    r"^(?P<sent>\d+) packets transmitted, (?P<received>\d+)(?: packets)? received(?P<rest>.*?)"
    r"(?P<percent>\d+(?:\.\d+)?)% packet loss(?P<tail>.*)$"
)
_WINDOWS_COUNTS = re.compile(
    r"(?:Packets: Sent|数据包: 已发送) = (\d+)[,，]\s*(?:Received|已接收) = (\d+)[,，]\s*(?:Lost|丢失) = (\d+)"
)
_ROUND_TRIPS = re.compile(
    rf"^(?:rtt|round-trip) (?P<names>min/avg/max(?:/\w+)?)\s+=\s+"
    rf"(?P<values>(?:{NUMBER}|nan)(?:/(?:{NUMBER}|nan))+)\s+(?P<unit>ms|us|s)"
)
_WINDOWS_TRIPS = re.compile(
    r"(?:Minimum|最短) = (\d+)ms[,，]\s*(?:Maximum|最长) = (\d+)ms[,，]\s*(?:Average|平均) = (\d+)ms"
)
_TROUBLE = re.compile(
    r"^(?:From |no answer yet|Request timeout|Request timed out|请求超时|ping: "
    r"|\d+ bytes from .*(?:Unreachable|exceeded)|.*(?:Unreachable|unreachable|Time to live exceeded|无法访问))"
)
_KEPT = re.compile(
    r"^(?:Warning|wrong|Approximate|往返行程|ipg/ewma|\[\d|[.E\s\x08]+$|Vr HL|\s*\d \d|Control-C|\^C|rtt "
    r"|round-trip |pipe )"
)
_METRICS = {
    "min": "latency_min_seconds",
    "avg": "latency_mean_seconds",
    "max": "latency_max_seconds",
    "mdev": "latency_mdev_seconds",
    "stddev": "latency_mdev_seconds",
    "std-dev": "latency_mdev_seconds",
}
_MOST_BLANKS = 2
# By so many seconds iputils' intervals of one second differ, which timers of 10 ms and slow replies stretch.
_MOST_LATE = 0.1


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the ping that begins at `start`, or its statistics where the begin was left out."""
    begin = _BEGIN.match(lines[start].strip())
    has_begin = bool(begin) and lines[start].strip().startswith(("PING", "Pinging", "正在"))
    # `| tail -2` leaves the counts alone.
    has_counts = not has_begin and bool(_COUNTS.match(lines[start].strip()))
    if not has_begin and not has_counts and not _STATISTICS.match(lines[start].strip()):
        return None
    reading = Reading(tool="ping", test="ICMP", kind="ping")
    if has_begin and begin:
        reading.parameters["peer"] = begin["host"] or begin["windows"] or begin["chinese"]
        if size := begin["bytes"] or begin["windows_bytes"] or begin["chinese_bytes"]:
            reading.parameters["payload_bytes"] = int(size)
    last, blanks, has_statistics = start, 0, not has_begin
    for index in range(start if has_counts else start + 1, len(lines)):
        line = lines[index].strip().removeprefix("^C")
        if not line:
            blanks += 1
            if blanks > _MOST_BLANKS or (has_counts and reading.figure("latency_mean_seconds")):
                break
            continue
        if _STATISTICS.match(line):
            if has_statistics:
                break
            has_statistics = True
        elif not _take(line, reading):
            break
        has_counts = has_counts or reading.figure("sent_probes") is not None
        last, blanks = index, 0
    if not has_counts:
        if not reading.intervals and not reading.remarks:
            return None
        reading.error = "The output has no statistics: the ping was cut off."
    _settings(reading)
    if epoch := _EPOCH.match(lines[start + 1].strip() if start + 1 < len(lines) else ""):
        reading.began_at = moment_of_epoch(float(epoch["at"]))
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _settings(reading: Reading) -> None:
    """Note how many probes were sent, and every tool's interval of a second unless the time denies it."""
    sent = reading.value("sent_probes")
    if not sent:
        return
    reading.parameters["count"] = int(sent)
    took = reading.parameters.get("duration_seconds")
    interval = float(took) / (sent - 1) if took is not None and sent > 1 else 1.0
    if abs(interval - 1.0) <= _MOST_LATE:
        reading.parameters["probe_interval_seconds"] = 1.0


def _take(line: str, reading: Reading) -> bool:
    """Take one line; return False for what is none of ping's."""
    if counts := _COUNTS.match(line):
        _counts(counts, reading)
    elif counts := _WINDOWS_COUNTS.search(line):
        sent, received, lost = counts.groups()
        _add_counts(reading, sent, received, lost)
    elif trips := _ROUND_TRIPS.match(line):
        _round_trips(trips, reading)
    elif trips := _WINDOWS_TRIPS.search(line):
        for metric, text in zip(
            ("latency_min_seconds", "latency_max_seconds", "latency_mean_seconds"), trips.groups(), strict=True
        ):
            reading.add(figure(metric, text, "s", times=power_of_ten(-3), printed=f"{text}ms"))
    elif _REPLY.match(line) and (took := _TIME.search(line)):
        _reply(line, took, reading)
    elif _REPLY.match(line) and _SEQUENCE.search(line) and not _TROUBLE.match(line):
        # Of a probe too short for a time.
        return True
    elif _TROUBLE.match(line):
        if len(reading.remarks) < 20:
            reading.remarks.append(line)
    else:
        return bool(_KEPT.match(line))
    return True


def _reply(line: str, took: re.Match[str], reading: Reading) -> None:
    """Keep a round trip by its sequence; "<1 ms" is a bound and no number, and a duplicate is no second sample."""
    sequence = _SEQUENCE.search(line)
    if took["less"] or "DUP" in line:
        return
    exponent = -6 if took["unit"].lower() == "us" else -3
    trip = figure(
        "rtt_seconds", took["time"], "s", times=power_of_ten(exponent), printed=f"{took['time']} {took['unit']}"
    )
    if trip:
        reading.intervals.append(Interval(None, None, (trip,), part=sequence.group(1) if sequence else ""))


def _counts(counts: re.Match[str], reading: Reading) -> None:
    sent, received = int(counts["sent"]), int(counts["received"])
    _add_counts(reading, counts["sent"], counts["received"], str(sent - received) if sent >= received else "")
    if remark := percentage_remark(counts["percent"], sent - received, sent):
        reading.remarks.append(remark)
    if duplicates := re.search(r"\+(\d+) duplicates", counts["rest"]):
        reading.add(figure("duplicate_replies", duplicates.group(1), "replies"))
    if errors := re.search(r"\+(\d+) errors", counts["rest"]):
        reading.add(figure("errors", errors.group(1), "errors"))
    if took := re.search(r"time (\d+)\s?ms", counts["tail"]):
        reading.parameters["duration_seconds"] = int(took.group(1)) / 1000


def _add_counts(reading: Reading, sent: str, received: str, lost: str) -> None:
    reading.add(figure("sent_probes", sent, "probes"))
    reading.add(figure("received_probes", received, "probes"))
    reading.add(figure("lost_probes", lost, "probes"))
    if lost and int(sent) > 0:
        reading.add(Figure("loss_ratio", int(lost) / int(sent), "ratio", len(sent), f"{lost}/{sent}", is_derived=True))


def _round_trips(trips: re.Match[str], reading: Reading) -> None:
    exponent = {"ms": -3, "us": -6, "s": 0}[trips["unit"]]
    for name, text in zip(trips["names"].split("/"), trips["values"].split("/"), strict=False):
        if metric := _METRICS.get(name):
            reading.add(figure(metric, text, "s", times=power_of_ten(exponent), printed=f"{text} {trips['unit']}"))
