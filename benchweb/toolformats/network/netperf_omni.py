"""netperf's omni outputs: `-- -k` (KEY=VALUE), `-- -o` (CSV) and `-- -O` (columns below their heads)."""

import re
from collections.abc import Mapping, Sequence

from benchweb.toolformats.network.netperf import AMBIGUOUS_REQUESTS, BANNER, test_named
from benchweb.toolformats.network.netperf_rows import rate_unit
from benchweb.toolformats.numbers import exact, figure, power_of_ten
from benchweb.toolformats.readings import Lines, Reading

_KEY_LINE = re.compile(r"^([A-Z][A-Z0-9_]+)=(.*)$")
_VALUES = re.compile(r"^[\d.+-]+(?:,[\w.+/^-]*)+$")
_COMMAND = re.compile(r"^(?>.*?(?=\bnetperf\s))(?P<command>.*\s-[oO]\s+\"?(?P<keys>[A-Za-z0-9_]+(?:,[A-Za-z0-9_]+)+))")
_OMNI = re.compile(r"^OMNI (?:Send|Receive|Send\|Receive)? ?TEST", re.IGNORECASE)
# Heads of -o and -O, said as keys. Source: netperf 2.7, nettest_omni.c, print_omni_init_list().
_KEYS = {
    "throughput": "THROUGHPUT",
    "throughput units": "THROUGHPUT_UNITS",
    "elapsed time (sec)": "ELAPSED_TIME",
    "elapsed time (seconds)": "ELAPSED_TIME",
    "protocol": "PROTOCOL",
    "direction": "DIRECTION",
    "local send size": "LOCAL_SEND_SIZE",
    "remote send size": "REMOTE_SEND_SIZE",
    "request size bytes": "REQUEST_SIZE",
    "response size bytes": "RESPONSE_SIZE",
    "local send socket size final": "LSS_SIZE_END",
    "remote recv socket size final": "RSR_SIZE_END",
    "transaction rate tran/s": "TRANSACTION_RATE",
    "round trip latency usec/tran": "RT_LATENCY",
    "mean latency microseconds": "MEAN_LATENCY",
    "minimum latency microseconds": "MIN_LATENCY",
    "maximum latency microseconds": "MAX_LATENCY",
    "50th percentile latency microseconds": "P50_LATENCY",
    "90th percentile latency microseconds": "P90_LATENCY",
    "99th percentile latency microseconds": "P99_LATENCY",
    "stddev latency microseconds": "STDDEV_LATENCY",
    "local cpu util %": "LOCAL_CPU_UTIL",
    "remote cpu util %": "REMOTE_CPU_UTIL",
    "local transport retransmissions": "LOCAL_TRANSPORT_RETRANS",
    "local sent throughput": "LOCAL_SEND_THROUGHPUT",
    "remote recv throughput": "REMOTE_RECV_THROUGHPUT",
    "local send calls": "LOCAL_SEND_CALLS",
    "remote recv calls": "REMOTE_RECV_CALLS",
    "command line": "COMMAND_LINE",
}
_MICROSECONDS = {
    "MIN_LATENCY": "latency_min_seconds",
    "MEAN_LATENCY": "latency_mean_seconds",
    "P50_LATENCY": "latency_p50_seconds",
    "P90_LATENCY": "latency_p90_seconds",
    "P99_LATENCY": "latency_p99_seconds",
    "MAX_LATENCY": "latency_max_seconds",
    "STDDEV_LATENCY": "latency_stddev_seconds",
}
_PARAMETERS = {
    "ELAPSED_TIME": "duration_seconds",
    "LOCAL_SEND_SIZE": "message_size_bytes",
    "REQUEST_SIZE": "request_size_bytes",
    "RESPONSE_SIZE": "response_size_bytes",
    "LSS_SIZE_END": "source_socket_buffer_bytes",
    "RSR_SIZE_END": "sink_socket_buffer_bytes",
}


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the omni result that begins at `start`: keys by themselves, CSV and columns behind a banner."""
    line = lines[start].strip()
    if _KEY_LINE.match(line) or _VALUES.match(line):
        return _keys(lines, start, start, "") if "=" in line else _requested_values(lines, start)
    banner = BANNER.match(line)
    if not banner and not _OMNI.match(line):
        return None
    first = start + 1
    while first < len(lines) and not lines[first].strip() and first - start < 3:
        first += 1
    if first >= len(lines):
        return None
    if _KEY_LINE.match(lines[first].strip()):
        return _keys(lines, start, first, line)
    if lines[first].count(",") >= 1:
        return _csv(lines, start, first, line)
    return None if banner else _columns(lines, start, first, line)


def _requested_values(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Read the values that `-P 0` prints alone, by the keys that its command, just before them, has behind `-o`."""
    for line in reversed(lines[max(0, start - 3) : start]):
        if command := _COMMAND.search(line):
            keys, texts = command["keys"].upper().split(","), lines[start].strip().split(",")
            values = dict(zip(keys, texts, strict=False)) | {"COMMAND_LINE": command["command"]}
            return (_reading(values, "", lines, start, start + 1), start + 1) if len(keys) == len(texts) else None
    return None


def _keys(lines: Sequence[str], start: int, first: int, banner: str) -> tuple[Reading, int] | None:
    values: dict[str, str] = {}
    index = first
    while index < len(lines) and (pair := _KEY_LINE.match(lines[index].strip())):
        if pair.group(1) in values:
            break
        values[pair.group(1)] = pair.group(2).strip().strip('"')
        index += 1
    if not ({"THROUGHPUT", "TRANSACTION_RATE", "MEAN_LATENCY"} & values.keys()):
        return None
    return _reading(values, banner, lines, start, index), index


def _csv(lines: Sequence[str], start: int, first: int, banner: str) -> tuple[Reading, int] | None:
    """Read heads and values; a head that a paste has wrapped over lines is put together again."""
    head = ""
    for index in range(first, min(first + 40, len(lines) - 1)):
        head += (" " if head and not head.endswith(",") else "") + lines[index].strip()
        names, texts = head.split(","), lines[index + 1].strip().split(",")
        if len(names) == len(texts) and any(exact(text) is not None for text in texts):
            values = {
                _KEYS.get(name.strip().lower(), name.strip()): text.strip().strip('"')
                for name, text in zip(names, texts, strict=True)
            }
            return _reading(values, banner, lines, start, index + 2), index + 2
    return None


def _columns(lines: Sequence[str], start: int, first: int, banner: str) -> tuple[Reading, int] | None:
    """Read the values' row and, above each value, the words of its head."""
    for index in range(first, min(first + 12, len(lines))):
        row = [(match.start(), match.group(0)) for match in re.finditer(r"\S+", lines[index])]
        if not row or exact(row[0][1]) is None:
            continue
        bounds = [position for position, _ in row] + [10_000]
        values: dict[str, str] = {}
        for column, (position, text) in enumerate(row):
            words = [head[position : bounds[column + 1]].strip() for head in lines[first:index]]
            name = " ".join(word for word in words if word)
            values[_KEYS.get(name.lower(), name)] = text
        return _reading(values, banner, lines, start, index + 1), index + 1
    return None


def _reading(values: Mapping[str, str], banner: str, lines: Sequence[str], start: int, end: int) -> Reading:
    test, kind, is_named = _test(values, banner)
    reading = Reading(tool="netperf", test=test, kind=kind, lines=Lines(start + 1, end))
    if not is_named and test.endswith("_RR"):
        reading.error = AMBIGUOUS_REQUESTS
    for key, name in _PARAMETERS.items():
        number = exact(values.get(key, ""))
        if number is not None and number >= 0:
            reading.parameters[name] = (
                int(number) if number == number.to_integral_value() and name != "duration_seconds" else float(number)
            )
    if command := values.get("COMMAND_LINE"):
        reading.parameters["command"] = command
    if values.get("DIRECTION", "").lower() in {"recv", "receive"} and kind == "tcp_stream":
        reading.parameters["direction"] = "reverse"
    _add_rates(reading, values, is_named=is_named)
    for key, metric in _MICROSECONDS.items():
        number = exact(values.get(key, ""))
        if number is not None and number >= 0:
            reading.add(figure(metric, values[key], "s", times=power_of_ten(-6), printed=f"{values[key]} us"))
    for key, metric in (("LOCAL_CPU_UTIL", "source_cpu_ratio"), ("REMOTE_CPU_UTIL", "sink_cpu_ratio")):
        number = exact(values.get(key, ""))
        if number is not None and number >= 0:
            reading.add(figure(metric, values[key], "ratio", times=power_of_ten(-2), printed=f"{values[key]} %"))
    retransmits = exact(values.get("LOCAL_TRANSPORT_RETRANS", ""))
    if retransmits is not None and retransmits >= 0:
        reading.add(figure("retransmits", values["LOCAL_TRANSPORT_RETRANS"], "segments"))
    return reading


def _add_rates(reading: Reading, values: Mapping[str, str], *, is_named: bool) -> None:
    unit = values.get("THROUGHPUT_UNITS") or (_usual_unit(reading) if is_named else "")
    if "THROUGHPUT" in values and not unit:
        reading.remarks.append(f"THROUGHPUT of {values['THROUGHPUT']} has no unit here: left out.")
    elif "THROUGHPUT" in values:
        if "trans" in unit.lower():
            reading.add(figure("transactions_per_second", values["THROUGHPUT"], "transactions/s"))
        else:
            text = values["THROUGHPUT"]
            reading.add(figure("throughput_bps", text, "bit/s", times=rate_unit(unit), printed=f"{text} {unit}"))
    if reading.test == "UDP_STREAM" and (sent := values.get("LOCAL_SEND_THROUGHPUT")):
        reading.add(figure("send_throughput_bps", sent, "bit/s", times=rate_unit(unit), printed=f"{sent} {unit}"))
    if "transactions_per_second" not in {figure.metric for figure in reading.figures}:
        number = exact(values.get("TRANSACTION_RATE", ""))
        if number is not None and number >= 0:
            reading.add(figure("transactions_per_second", values["TRANSACTION_RATE"], "transactions/s"))


def _usual_unit(reading: Reading) -> str:
    """Return netperf's own unit for a test that the text names."""
    return "Trans/s" if reading.test.endswith(("RR", "CC")) else "10^6bits/s"


def _test(values: Mapping[str, str], banner: str) -> tuple[str, str | None, bool]:
    """Return netperf's name of the test, the catalog's kind where there is one, and whether the text names it."""
    if named := BANNER.match(banner):
        return *test_named(named), True
    command = re.search(r"-t\s+\"?([A-Za-z]+_[A-Za-z]+)", values.get("COMMAND_LINE", ""))
    protocol = values.get("PROTOCOL", "TCP").upper() or "TCP"
    is_request = "trans" in values.get("THROUGHPUT_UNITS", "").lower() or "|" in values.get("DIRECTION", "")
    test = command.group(1).upper() if command else f"{protocol}_{'RR' if is_request else 'STREAM'}"
    kinds = {"TCP_STREAM", "UDP_STREAM", "TCP_RR", "TCP_CRR", "UDP_RR"}
    kind = test.lower() if test in kinds else ("tcp_stream" if test == "TCP_MAERTS" else None)
    return test, kind, command is not None
