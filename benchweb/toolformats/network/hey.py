"""hey's and oha's text, which look alike, and oha's JSON.

hey prints seconds and bytes (its requester/print.go); oha the unit that fits, and binary bytes (its printer.rs). Both
count bodies alone, and requests without an answer in their rate; oha's deadline of `-z` is no failure.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchweb.toolformats.json_values import json_figure, mapping, number
from benchweb.toolformats.known import percentage_remark
from benchweb.toolformats.network.http_answers import (
    Answers,
    add_answers,
    add_byte_rate,
    take_command,
    why_failed,
)
from benchweb.toolformats.numbers import NUMBER, binary_prefix, exact, figure, percentile_name, seconds_of
from benchweb.toolformats.readings import Figure, Lines, Reading

_TEXT, _UNIT = rf"(?:{NUMBER}|NaN|-?inf)", r"(?P<unit>ns|us|µs|ms|secs?|s|min|m|h)"
_TIME = re.compile(rf"^(?P<name>Total|Slowest|Fastest|Average):\s+(?P<time>{_TEXT}) {_UNIT}$")
_SUCCESS = re.compile(rf"^Success rate:\s+(?P<share>{_TEXT})(?P<percent>%?)$")
_RATE = re.compile(rf"^Requests/sec:\s+({NUMBER})$")
_BYTES = re.compile(
    rf"^(?P<name>Total data|Size/request|Size/sec):\s+(?P<amount>{_TEXT})(?: (?P<prefix>[KMGT]?)i?(?:B|bytes))?$"
)
_PERCENTILE = re.compile(rf"^(?P<percent>\d+(?:\.\d+)?)%{{1,2}} in\s+(?P<time>{_TEXT}) {_UNIT}$")
_STATUS = re.compile(r"^\[(?P<status>[1-9]\d\d)\]\s+(?P<count>\d+) responses$")
_ERROR = re.compile(r"^\[(?P<count>\d+)\]\s+(?P<what>\S.*)$")
_SECTION = re.compile(r"^(?P<name>(?:Response time|Latency|Status code|Error|Details) [^:]{1,50}):$")
_BAR = re.compile(rf"^{NUMBER}(?: \S{{1,4}})? \[\d+\]\s*\|")
_DETAIL = re.compile(r"^(?:DNS\+dialup|DNS-lookup|req write|resp wait|resp read):\s")
_NOTE = "Note:  Distributions are for first"
_HEAD = "Summary:"
# Looked for first, for nearly every line of a text begins by none.
_FIRST_WORDS = (_HEAD, "Total:", "Success rate:")
_LATENCIES = ("Latency distribution", "Response time distribution")
_STATUSES, _ERRORS = "Status code distribution", "Error distribution"
_KEY = re.compile(r"^p\d+(?:\.\d+)?$")
_DEADLINE = "aborted due to deadline"
_NAMES = {"Slowest": "max", "Fastest": "min", "Average": "mean"}
_LONGEST = 400


@dataclass(slots=True)
class _State:
    """The part of the text that is read, how the requests were answered, and oha's own share of answered ones."""

    section: str = ""
    answers: Answers = field(default_factory=Answers)
    success: str = ""


def read(lines: Sequence[str], start: int) -> tuple[Reading, int] | None:
    """Return the test that "Summary:", or the line behind it, begins at `start`."""
    line = lines[start].strip()
    if not line.startswith(_FIRST_WORDS):
        return None
    first = start + 1 if line == _HEAD else start
    tool = _tool(lines, first)
    if not tool:
        return None
    reading, state = Reading(tool=tool, test="HTTP", kind="http_load"), _State()
    last = start
    for index in range(first, min(len(lines), start + _LONGEST)):
        line = lines[index].strip()
        if not line:
            continue
        is_next = line.startswith(("Total:", "Success rate:")) and "duration_seconds" in reading.parameters
        if is_next or not _take(line, reading, state):
            break
        last = index
    _finish(reading, state, take_command(lines, start, reading))
    reading.lines = Lines(start + 1, last + 1)
    return reading, last + 1


def _tool(lines: Sequence[str], first: int) -> str:
    """Return whose summary begins at a line; another program's begins by neither, or goes on otherwise."""
    following = [line.strip() for line in lines[first : first + 2]]
    # ghz, of gRPC, counts before it goes on alike.
    if len(following) < 2 or (first and lines[first - 1].strip().startswith("Count:")):
        return ""
    if following[1].startswith("Total:") and _SUCCESS.match(following[0]):
        return "oha"
    if following[1].startswith("Slowest:") and following[0].startswith("Total:") and _TIME.match(following[0]):
        return "hey" if following[0].endswith(" secs") else "oha"
    return ""


def _take(line: str, reading: Reading, state: _State) -> bool:
    """Take a line; return False for what is neither hey's nor oha's."""
    if section := _SECTION.match(line):
        state.section = section["name"]
        return True
    if state.section in {_STATUSES, _ERRORS}:
        return _take_answers(line, state)
    for pattern, take in _TAKERS:
        if match := pattern.match(line):
            take(reading, state, match)
            return True
    return bool(_BAR.match(line) or _DETAIL.match(line) or line.startswith(_NOTE))


def _take_answers(line: str, state: _State) -> bool:
    """Count responses by their status, and errors by their words."""
    if status := _STATUS.match(line):
        state.answers.by_status[status["status"]] += int(status["count"])
    elif state.section == _ERRORS and (error := _ERROR.match(line)):
        state.answers.errors[error["what"]] += int(error["count"])
    else:
        return False
    return True


def _time(reading: Reading, _: _State, match: re.Match[str]) -> None:
    text, unit = match["time"], match["unit"]
    if match["name"] != "Total":
        reading.add(_latency(_NAMES[match["name"]], text, unit))
    elif (total := exact(text)) is not None:
        reading.parameters["duration_seconds"] = float(total * seconds_of(unit))


def _success(_: Reading, state: _State, match: re.Match[str]) -> None:
    share = exact(match["share"])
    if share is not None:
        state.success = str(share if match["percent"] else share * 100)


def _rate(reading: Reading, _: _State, match: re.Match[str]) -> None:
    reading.add(figure("requests_per_second", match[1], "requests/s"))


def _bytes(reading: Reading, _: _State, match: re.Match[str]) -> None:
    text, prefix = match["amount"], match["prefix"] or ""
    times, printed = binary_prefix(prefix), match.string.partition(":")[2].strip()
    if match["name"] == "Total data":
        reading.add(figure("received_bytes", text, "B", times=times, printed=printed))
    elif match["name"] == "Size/sec":
        reading.tool = "oha"
        reading.add(figure("received_bytes_per_second", text, "B/s", times=times, printed=printed))
    elif not prefix and (size := exact(text)) is not None:
        reading.parameters["response_size_bytes"] = int(size)


def _percentile(reading: Reading, state: _State, match: re.Match[str]) -> None:
    """Take a percentile of all responses; those of 2xx alone stand in sections of their own."""
    name = percentile_name(match["percent"])
    if state.section in _LATENCIES and name != "p0":
        reading.add(_latency(name, match["time"], match["unit"]))


def _latency(name: str, text: str, unit: str) -> Figure | None:
    return figure(f"latency_{name}_seconds", text, "s", times=seconds_of(unit), printed=f"{text} {unit}")


_TAKERS: tuple[tuple[re.Pattern[str], Callable[[Reading, _State, re.Match[str]], None]], ...] = (
    (_TIME, _time),
    (_SUCCESS, _success),
    (_RATE, _rate),
    (_BYTES, _bytes),
    (_PERCENTILE, _percentile),
)


def _finish(reading: Reading, state: _State, asked_seconds: float | None) -> None:
    """Add what became of the requests, and say why the output is no measurement."""
    if reading.tool == "hey":
        add_byte_rate(reading)
    if not reading.figure("requests_per_second"):
        reading.error = "The output ends before Requests/sec: the test was cut off."
        return
    _judge(reading, state.answers, state.success, asked_seconds)


def _judge(reading: Reading, answers: Answers, success: str, asked_seconds: float | None) -> None:
    """Judge the answers alike for text and JSON; `success` is oha's own share of answered requests, in per cent."""
    responses = sum(answers.by_status.values())
    answers.overdue = answers.errors.pop(_DEADLINE, 0)
    if answers.overdue and not responses and not answers.unanswered:
        answers.errors[_DEADLINE] = answers.overdue
    if remark := percentage_remark(success, responses, responses + answers.unanswered):
        reading.remarks.append(remark)
    add_answers(reading, answers)
    _keep_exact_size(reading)
    took = reading.parameters.get("duration_seconds")
    reading.error = reading.error or why_failed(reading, asked_seconds, took if isinstance(took, float) else None)


def _keep_exact_size(reading: Reading) -> None:
    """Keep the size of a response where all responses have it: what is printed is a mean without its fraction."""
    size, received = reading.parameters.get("response_size_bytes"), reading.figure("received_bytes")
    requests = (reading.value("requests") or 0) - (reading.value("errors") or 0)
    if not (isinstance(size, int) and received and received.value == size * requests):
        reading.parameters.pop("response_size_bytes", None)


def recognises(document: Mapping[str, object]) -> bool:
    """Whether a document is oha's `--output-format json`."""
    return "requestsPerSec" in mapping(document.get("summary")) and "statusCodeDistribution" in document


def read_json(document: Mapping[str, object]) -> Reading:
    """Return oha's document as a reading: seconds, bytes, and latencies of all responses."""
    reading, summary = Reading(tool="oha", test="HTTP", kind="http_load"), mapping(document["summary"])
    if total := number(summary.get("total")):
        reading.parameters["duration_seconds"] = total
    reading.add(json_figure("requests_per_second", summary.get("requestsPerSec"), "requests/s"))
    reading.add(json_figure("received_bytes", summary.get("totalData"), "B"))
    reading.add(json_figure("received_bytes_per_second", summary.get("sizePerSec"), "B/s"))
    if size := number(summary.get("sizePerRequest")):
        reading.parameters["response_size_bytes"] = int(size)
    for key, name in (("fastest", "min"), ("average", "mean"), ("slowest", "max")):
        reading.add(json_figure(f"latency_{name}_seconds", summary.get(key), "s"))
    for key, value in mapping(document.get("latencyPercentiles")).items():
        if _KEY.match(key):
            reading.add(json_figure(f"latency_{percentile_name(key[1:])}_seconds", value, "s"))
    success = number(summary.get("successRate"))
    answers = Answers(_counts(document, "statusCodeDistribution"), _counts(document, "errorDistribution"))
    _judge(reading, answers, "" if success is None else f"{success * 100:g}", None)
    return reading


def _counts(document: Mapping[str, object], member: str) -> Counter[str]:
    counts = {key: number(value) for key, value in mapping(document.get(member)).items()}
    return Counter({key: int(count) for key, count in counts.items() if count and count > 0})
