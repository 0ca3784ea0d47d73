"""nuttcp's text of -v: what each end says of itself, `nuttcp-t` of what was sent and `nuttcp-r` of what arrived."""

import re
from collections.abc import Callable, Sequence

from benchweb.toolformats.known import percentage_remark, rate_remark
from benchweb.toolformats.network.nuttcp import FAULT, interval, row_of
from benchweb.toolformats.numbers import NUMBER, binary_prefix, decimal_prefix, figure, losses, plain, power_of_ten
from benchweb.toolformats.readings import Lines, Reading

_LINE = re.compile(r"^nuttcp-(?P<end>[tr])(?:-\S{1,40})?: ?(?P<says>\S.*)$")
_VERSION = re.compile(r"^v(?P<version>\d+\.\d+\.\d+)\S{0,20}: socket$")
_SETUP = re.compile(r"^buflen=(?P<size>\d+), nstream=(?P<flows>\d+), port=\d+ (?P<protocol>tcp|udp)\b")
_CONNECTED = re.compile(rf"^connect to (?P<peer>\S+)(?:.* RTT=(?P<rtt>{NUMBER}) ms)?")
_WHOLE = re.compile(
    rf"^(?P<amount>{NUMBER}) MB in (?P<seconds>{NUMBER}) real seconds = {NUMBER} KB/sec = (?P<rate>{NUMBER}) Mbps$"
)
_RETRANSMITS = re.compile(r"^retrans = (\d+)(?= |$)")
_DROPS = re.compile(rf"^(?P<lost>-?\d+) / (?P<sent>\d+) drop/pkt(?: (?P<share>{NUMBER})% data loss)?$")
_CPU = re.compile(rf"^{NUMBER}user {NUMBER}sys [\d:]+real (\d+)%(?= |$)")
_LONGEST = 20_000


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test whose first line of either end stands at `start`."""
    first = _LINE.match(lines[start].strip())
    if not first or not (_VERSION.match(first["says"]) or _SETUP.match(first["says"]) or _WHOLE.match(first["says"])):
        return None
    reading, last = Reading(tool="nuttcp", test="TCP", kind="tcp_stream"), start
    for index in range(start, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        said = _LINE.match(line)
        if said and _is_next(said["says"], reading):
            break
        if fault := FAULT.match(line):
            reading.error = reading.error or fault["what"]
        elif said:
            _take(said, reading)
        elif row := row_of(line):
            reading.intervals.append(interval(row, reading))
        elif line:
            break
        last = index if line else last
    _finish(reading)
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _is_next(says: str, reading: Reading) -> bool:
    """Whether the next test begins: both ends have told what they moved."""
    has_both = reading.figure("throughput_bps") and reading.figure("send_throughput_bps")
    return bool(has_both and _VERSION.match(says))


def _take(said: re.Match[str], reading: Reading) -> None:
    for pattern, take in _TAKERS:
        if match := pattern.match(said["says"]):
            take(reading, match, said["end"] == "t")
            return


def _version(reading: Reading, match: re.Match[str], _: bool) -> None:
    reading.version = reading.version or match["version"]


def _setup(reading: Reading, match: re.Match[str], is_sender: bool) -> None:
    if match["protocol"] == "udp":
        reading.kind, reading.test = "udp_stream", "UDP"
    reading.parameters["flows"] = int(match["flows"])
    if is_sender:
        reading.parameters["message_size_bytes"] = int(match["size"])


def _connected(reading: Reading, match: re.Match[str], is_sender: bool) -> None:
    """Take the peer, and by who connects to it which way the data goes."""
    reading.parameters["peer"] = match["peer"]
    reading.parameters["direction"] = "forward" if is_sender else "reverse"
    if match["rtt"]:
        printed = f"{match['rtt']} ms"
        reading.add(figure("connect_seconds", match["rtt"], "s", times=power_of_ten(-3), printed=printed))


def _whole(reading: Reading, match: re.Match[str], is_sender: bool) -> None:
    prefix, verb = ("send_", "sent") if is_sender else ("", "received")
    amount = figure(f"{verb}_bytes", match["amount"], "B", times=binary_prefix("M"), printed=f"{match['amount']} MB")
    printed = f"{match['rate']} Mbps"
    rate = figure(f"{prefix}throughput_bps", match["rate"], "bit/s", times=decimal_prefix("M"), printed=printed)
    reading.add(amount)
    reading.add(rate)
    if not is_sender or "duration_seconds" not in reading.parameters:
        reading.note("duration_seconds", plain(match["seconds"]))
    if remark := rate_remark(rate, amount, plain(match["seconds"])):
        reading.remarks.append(remark)


def _retransmits(reading: Reading, match: re.Match[str], _: bool) -> None:
    reading.add(figure("retransmits", match[1], "segments"))


def _drops(reading: Reading, match: re.Match[str], _: bool) -> None:
    lost, sent = int(match["lost"]), int(match["sent"])
    reading.figures += losses("", lost, sent)
    reading.add(figure("sent_packets", match["sent"], "pkt"))
    if remark := percentage_remark(match["share"] or "", lost, sent):
        reading.remarks.append(remark)


def _cpu(reading: Reading, match: re.Match[str], is_sender: bool) -> None:
    metric = "source_cpu_ratio" if is_sender else "sink_cpu_ratio"
    reading.add(figure(metric, match[1], "ratio", times=power_of_ten(-2), printed=f"{match[1]}%"))


_TAKERS: tuple[tuple[re.Pattern[str], Callable[[Reading, re.Match[str], bool], None]], ...] = (
    (_VERSION, _version),
    (_SETUP, _setup),
    (_CONNECTED, _connected),
    (_WHOLE, _whole),
    (_RETRANSMITS, _retransmits),
    (_DROPS, _drops),
    (_CPU, _cpu),
)


def _finish(reading: Reading) -> None:
    if not reading.figure("throughput_bps") and not reading.figure("send_throughput_bps"):
        reading.error = reading.error or "The test has no summary: it was cut off."
