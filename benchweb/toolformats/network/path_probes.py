"""fping's counts and mtr's report (`-r`): round trips of many probes, whose times are milliseconds.

mtr names every hop; what is measured is the last one, the destination that was asked.
"""

import re
from collections.abc import Sequence

from benchweb.toolformats.numbers import NUMBER, figure, moment_of_iso, power_of_ten
from benchweb.toolformats.readings import Figure, Lines, Reading

_FPING_REPLY = re.compile(r"^\S+\s+: \[\d+\], (?:\d+ bytes|timed out)")
_FPING = re.compile(
    rf"^(?P<peer>\S+)\s+: xmt/rcv/%loss = (?P<sent>\d+)/(?P<received>\d+)/\d+%"
    rf"(?:, min/avg/max = (?P<min>{NUMBER})/(?P<mean>{NUMBER})/(?P<max>{NUMBER}))?$"
)
_MTR = re.compile(r"^HOST: \S+\s+Loss%\s+Snt\s+Last\s+Avg\s+Best\s+Wrst\s+StDev$")
_START = re.compile(r"^Start: (?P<at>\d{4}-\S{15,25})$")
_HOP = re.compile(
    rf"^\d+\.\|--\s+(?P<peer>\S+)\s+(?P<loss>{NUMBER})%?\s+(?P<sent>\d+)\s+{NUMBER}\s+"
    rf"(?P<mean>{NUMBER})\s+(?P<min>{NUMBER})\s+(?P<max>{NUMBER})\s+(?P<stddev>{NUMBER})$"
)
_NO_ANSWER = "???"


def read(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    """Return what fping counted of each host, or the last hop of mtr's report, from `start` on."""
    line = lines[start].strip()
    if _MTR.match(line):
        return _mtr(lines, start)
    if not (_FPING_REPLY.match(line) or _FPING.match(line)):
        return None
    readings: list[Reading] = []
    index = end = start
    while index < len(lines):
        line = lines[index].strip()
        if counts := _FPING.match(line):
            readings.append(_fping(counts, index + 1))
        elif line and not _FPING_REPLY.match(line):
            break
        end = index + 1 if line else end
        index += 1
    if not readings:
        readings.append(Reading("fping", "ICMP", "ping", lines=Lines(start + 1, end)))
        readings[0].error = "The output has no statistics: the ping was cut off."
    return readings, end


def _fping(counts: re.Match[str], number: int) -> Reading:
    reading = Reading("fping", "ICMP", "ping", lines=Lines(number, number))
    sent, received = int(counts["sent"]), int(counts["received"])
    reading.parameters.update(peer=counts["peer"], count=sent)
    reading.add(figure("sent_probes", counts["sent"], "probes"))
    if sent and received <= sent:
        lost = sent - received
        reading.add(figure("lost_probes", str(lost), "probes"))
        reading.add(Figure("loss_ratio", lost / sent, "ratio", len(counts["sent"]), f"{lost}/{sent}", is_derived=True))
    _add_times(reading, counts, ("min", "mean", "max"))
    return reading


def _mtr(lines: Sequence[str], start: int) -> tuple[list[Reading], int] | None:
    end = start + 1
    while end < len(lines) and _HOP.match(lines[end].strip()):
        end += 1
    last = _HOP.match(lines[end - 1].strip())
    if not last:
        return None
    reading = Reading("mtr", "ICMP", "ping", lines=Lines(start + 1, end))
    reading.parameters["count"] = int(last["sent"])
    if began := _START.match(lines[start - 1].strip() if start else ""):
        reading.began_at = moment_of_iso(began["at"])
    if last["peer"] == _NO_ANSWER:
        reading.error = "The last hop didn't answer: what was asked was not reached."
        return [reading], end
    reading.parameters["peer"] = last["peer"]
    reading.add(figure("sent_probes", last["sent"], "probes"))
    reading.add(figure("loss_ratio", last["loss"], "ratio", times=power_of_ten(-2), printed=f"{last['loss']}%"))
    _add_times(reading, last, ("min", "mean", "max", "stddev"))
    return [reading], end


def _add_times(reading: Reading, row: re.Match[str], names: Sequence[str]) -> None:
    for name in names:
        if row[name]:
            metric = "latency_mdev_seconds" if name == "stddev" else f"latency_{name}_seconds"
            reading.add(figure(metric, row[name], "s", times=power_of_ten(-3), printed=f"{row[name]} ms"))
