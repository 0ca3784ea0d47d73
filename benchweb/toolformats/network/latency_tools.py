"""sockperf's and qperf's text.

sockperf's latency is half of the round trip, and its MBps and Mbps are 2^20 (sockperf's README). qperf's units are
decimal (qperf's manual, "Units").
"""

import re
from collections.abc import Sequence

from benchweb.toolformats.numbers import (
    NUMBER,
    binary_prefix,
    decimal_prefix,
    exact,
    figure,
    percentile_name,
    plain,
    power_of_ten,
    seconds_of,
)
from benchweb.toolformats.readings import LONGEST_HEAD, Lines, Reading

_SOCKPERF = re.compile(r"^sockperf:")
_SOCKPERF_BEGIN = re.compile(
    r"^sockperf: ==(?:\s*version #?(?P<version>[^\s=]\S*)?)? ?==|^sockperf\[CLIENT\]|^sockperf: \[Total Run\]"
)
_RUN = re.compile(rf"RunTime=({NUMBER}) sec; (?:Warm up time=\S+ \w+; )?SentMessages=(\d+); ReceivedMessages=(\d+)")
_LATENCY = re.compile(rf"Summary: (?:Latency|Round trip) is ({NUMBER}) usec")
_OBSERVATION = re.compile(
    rf"---> (?:<?(?P<bound>MAX|MIN)>? observation|percentile (?P<percent>[\d.]+)) =\s+(?P<value>{NUMBER})"
)
_STANDARD = re.compile(rf"(?:avg-(?:lat|latency|rtt))=\s*({NUMBER}) \(std-dev=\s*({NUMBER})")
_MESSAGES = re.compile(rf"Summary: Message Rate is ({NUMBER}) \[msg/sec\]")
_BANDWIDTH = re.compile(rf"Summary: BandWidth is ({NUMBER}) MBps \(({NUMBER}) Mbps\)")
_DROPPED = re.compile(r"# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)")
_SENT = re.compile(rf"Total of (?P<messages>\d+) messages sent in (?P<seconds>{NUMBER}) sec")
_SIZE = re.compile(r"using msg-size=(\d+)")
_SOCKPERF_PEER = re.compile(r"^\[\s*\d+\] IP = (?P<peer>\S+)\s+PORT =\s+\d+ # (?P<protocol>TCP|UDP)")
_QPERF_TEST = re.compile(r"^(?P<test>(?:tcp|udp|sctp|sdp|rds|rc|uc|ud)(?:_\w+)?_(?:bw|lat|bi_bw)):\s*$")
_QPERF_VALUE = re.compile(rf"^\s+(?P<name>\w+(?: \w+)?)\s+=\s+(?P<value>{NUMBER}|--)\s*(?P<unit>\S*(?: \S+)?)\s*$")
# "64 KiB", "1 bytes".
_BINARY = re.compile(r"^([KMG]?)(?:iB|bytes?)(?: |$)")
# What qperf sends at once without -m (its socket.c).
_QPERF_BYTES = {"tcp_bw": 64 * 1024, "udp_bw": 32 * 1024}
# Rates have three digits.
_ROUNDED = 0.05
_RATE = re.compile(r"^([KMGT]?)(B|b)(?:ytes|its)?/s(?:ec)?$", re.IGNORECASE)


def read(lines: Sequence[str], start: int) -> tuple[Reading | list[Reading], int] | None:
    line = lines[start].strip()
    if _SOCKPERF_BEGIN.match(line):
        return _sockperf(lines, start)
    test = _QPERF_TEST.match(lines[start].rstrip())
    return _qperf(lines, start, test["test"]) if test else None


def _sockperf(lines: Sequence[str], start: int) -> tuple[Reading | list[Reading], int] | None:
    reading = Reading(tool="sockperf", test="ping-pong")
    index = last = start
    while index < len(lines) and index - start < 400:
        line = lines[index].strip()
        if index > start and reading.figures and re.match(r"^sockperf: == ?version", line):
            break
        if _SOCKPERF.match(line) or line.startswith(("sockperf[", "[", "sockperf:")):
            last = index
            _take(line, reading)
        elif line:
            break
        index += 1
    if not reading.figures:
        return ([], last + 1) if last - start > LONGEST_HEAD else None
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _take(line: str, reading: Reading) -> None:
    micro = power_of_ten(-6)
    if begin := _SOCKPERF_BEGIN.match(line):
        reading.version = reading.version or (begin["version"] or "")
    if run := _RUN.search(line):
        if "Valid Duration" in line or "duration_seconds" not in reading.parameters:
            reading.note("duration_seconds", plain(run.group(1)))
            reading.figures = [figure for figure in reading.figures if not figure.metric.endswith("_messages")]
            reading.add(figure("sent_messages", run.group(2), "messages"))
            reading.add(figure("received_messages", run.group(3), "messages"))
    elif latency := _LATENCY.search(line):
        name = "latency_mean_seconds" if "Round trip" in line else "half_round_trip_mean_seconds"
        reading.add(figure(name, latency.group(1), "s", times=micro, printed=f"{latency.group(1)} usec"))
    elif observation := _OBSERVATION.search(line):
        name = (observation["bound"] or "").lower() or percentile_name(observation["percent"])
        text = observation["value"]
        reading.add(figure(f"{_trip(reading)}_{name}_seconds", text, "s", times=micro, printed=f"{text} usec"))
    elif standard := _STANDARD.search(line):
        text = standard.group(2)
        name = "latency" if "avg-rtt" in line else "half_round_trip"
        reading.add(figure(f"{name}_stddev_seconds", text, "s", times=micro, printed=f"{text} usec"))
    elif peer := _SOCKPERF_PEER.match(line):
        reading.parameters.update(peer=peer["peer"], protocol=peer["protocol"])
    elif dropped := _DROPPED.search(line):
        for metric, text in zip(
            ("lost_packets", "duplicate_packets", "out_of_order_packets"), dropped.groups(), strict=True
        ):
            reading.add(figure(metric, text, "pkt"))
    else:
        _take_throughput(line, reading)


def _take_throughput(line: str, reading: Reading) -> None:
    if sent := _SENT.search(line):
        reading.note("duration_seconds", plain(sent["seconds"]))
        reading.add(figure("sent_messages", sent["messages"], "messages"))
    elif size := _SIZE.search(line):
        reading.parameters["message_size_bytes"] = int(size.group(1))
    elif rate := _MESSAGES.search(line):
        reading.test = "throughput"
        reading.add(figure("messages_per_second", rate.group(1), "messages/s"))
    elif bandwidth := _BANDWIDTH.search(line):
        text = bandwidth.group(1)
        reading.add(figure("throughput_bps", text, "bit/s", times=8 * 1024**2, printed=f"{text} MBps"))


def _trip(reading: Reading) -> str:
    """Name what percentiles are of: with --full-rtt of the round trip, as the line before them says."""
    return "latency" if reading.figure("latency_mean_seconds") else "half_round_trip"


def _qperf(lines: Sequence[str], start: int, test: str) -> tuple[Reading, int] | None:
    kind = "udp_stream" if test == "udp_bw" else "tcp_stream" if test == "tcp_bw" else None
    reading = Reading(tool="qperf", test=test, kind=kind)
    index = start + 1
    while index < len(lines) and (value := _QPERF_VALUE.match(lines[index])):
        _qperf_value(reading, value)
        index += 1
    if not reading.figures:
        return None
    _qperf_size(reading)
    reading.lines = Lines(start + 1, index)
    return reading, index


def _qperf_size(reading: Reading) -> None:
    """Note how large qperf's messages are by default, where the rates that it printed are those of such messages."""
    size = _QPERF_BYTES.get(reading.test)
    rate, messages = reading.value("throughput_bps"), reading.value("messages_per_second")
    if size and rate and messages and abs(rate / 8 / messages / size - 1) < _ROUNDED:
        reading.parameters.setdefault("message_size_bytes", size)


def _qperf_value(reading: Reading, value: re.Match[str]) -> None:
    name, text, unit = value["name"], value["value"], value["unit"].strip()
    printed = f"{text} {unit}".strip()
    if rate := _RATE.match(unit):
        bits = 8 if rate.group(2) == "B" else 1
        metric = {"send_bw": "send_throughput_bps"}.get(
            name, "throughput_bps" if name in {"bw", "recv_bw"} else f"{name}_bps"
        )
        reading.add(figure(metric, text, "bit/s", times=decimal_prefix(rate.group(1)) * bits, printed=printed))
    elif name == "time" and unit == "sec":
        reading.note("duration_seconds", plain(text))
    elif unit in {"ns", "us", "ms", "s", "sec"}:
        # qperf's latency is one way: half of the round trip.
        metric = "half_round_trip_mean_seconds" if name == "latency" else f"{name}_seconds"
        reading.add(figure(metric, text, "s", times=seconds_of(unit), printed=printed))
    elif name == "msg_rate":
        prefix = unit[:1] if unit.startswith(("K", "M", "G")) else ""
        reading.add(figure("messages_per_second", text, "messages/s", times=decimal_prefix(prefix), printed=printed))
    elif name == "msg_size" and (binary := _BINARY.match(unit)) and (size := exact(text)) is not None:
        reading.parameters["message_size_bytes"] = int(size * binary_prefix(binary.group(1)))
