"""What became of a load's requests, told alike of every tool: a rate of failed answers measures nothing."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchweb.toolformats.commands import options_above
from benchweb.toolformats.known import early_end, rate_remark
from benchweb.toolformats.numbers import derived, exact, figure, seconds_of
from benchweb.toolformats.readings import Reading

_GOOD = ("2", "3")
_URL = re.compile(r"(?:^|\s)['\"]?(?P<url>https?://[^\s'\"]{1,2000})")
_OPTION = r"(?:^|\s)-{letter}[ =]?{value}(?=\s|$)"
_CONNECTIONS = re.compile(_OPTION.format(letter="c", value=r"(\d{1,6})"))
# By a variable of the shell, or on the next line.
_OTHER_CONNECTIONS = re.compile(r"(?:^|\s)-c|\\$")
# Of both tools without -c (hey.go, oha's lib.rs).
_DEFAULT_CONNECTIONS = 50
_RATE = re.compile(r"(?:^|\s)-q")
_DURATION = re.compile(_OPTION.format(letter="z", value=r"(\d{1,9})(ms|sec|s|m|h)?"))


@dataclass(slots=True)
class Answers:
    """Responses by their status, and requests that got none by the tool's words for it.

    `overdue` were on their way when the test's time was over: in a tool's rate, and no failures.
    """

    by_status: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    overdue: int = 0

    @property
    def failed(self) -> int:
        """Return how many responses were none of 2xx or 3xx."""
        return sum(count for status, count in self.by_status.items() if not status.startswith(_GOOD))

    @property
    def unanswered(self) -> int:
        return sum(self.errors.values())


def add_answers(reading: Reading, answers: Answers) -> None:
    """Add the requests that are in a tool's rate, and set the error where none of them was answered."""
    responses, unanswered = sum(answers.by_status.values()), answers.unanswered
    if not responses and not unanswered:
        reading.remarks.append("How the requests were answered isn't printed: they may have failed.")
        return
    in_rate = unanswered if _has_unanswered(reading, responses + answers.overdue, unanswered) else 0
    reading.add(figure("requests", str(responses + in_rate), "requests"))
    reading.add(figure("errors", str(unanswered), "errors"))
    add_failures(reading, answers.failed, in_rate)
    remark_other_rate(reading, answers.overdue)
    if not responses:
        # What kept all of them from an answer, as the tool says it.
        reading.error = reading.error or answers.errors.most_common(1)[0][0]


def _has_unanswered(reading: Reading, responses: int, unanswered: int) -> bool:
    """Whether a rate counts requests without an answer: those of older heys don't."""
    rate, seconds = reading.value("requests_per_second"), reading.parameters.get("duration_seconds")
    if rate is None or not isinstance(seconds, float):
        return True
    return abs(responses + unanswered - rate * seconds) <= abs(responses - rate * seconds)


def add_failures(reading: Reading, failed: int, unanswered: int) -> None:
    """Add how many requests failed of those that a rate counts, answered by errors or not at all."""
    reading.add(figure("failed_responses", str(failed + unanswered), "responses"))
    if unanswered:
        reading.remarks.append(
            f"{unanswered:,} requests without an answer are in the rate: counted as failed responses."
        )


def why_failed(reading: Reading, asked_seconds: float | None, took_seconds: float | None) -> str:
    """Say why a whole output is no measurement: every answer was an error, or the test ended long before its time."""
    requests, failed = reading.value("requests"), reading.value("failed_responses")
    if requests and failed and failed >= requests:
        return f"All {requests:,.0f} responses were errors, other than 2xx and 3xx: their rate measures nothing."
    return early_end(asked_seconds, took_seconds)


def remark_other_rate(reading: Reading, overdue: int = 0) -> None:
    """Remark a rate that isn't what the requests and the time beside it say, with those on their way or without."""
    rate, requests = reading.figure("requests_per_second"), reading.figure("requests")
    seconds = reading.parameters.get("duration_seconds")
    begun = replace(requests, value=requests.value + overdue) if requests else None
    if (remark := rate_remark(rate, requests, seconds)) and rate_remark(rate, begun, seconds):
        reading.remarks.append(remark)


def add_byte_rate(reading: Reading) -> None:
    """Add the bytes per second of a tool that prints bytes and time alone."""
    received, seconds = reading.figure("received_bytes"), reading.parameters.get("duration_seconds")
    if received and isinstance(seconds, float) and seconds > 0:
        reading.add(derived("received_bytes_per_second", received.value / seconds, "B/s", (received,)))


def take_command(lines: Sequence[str], start: int, reading: Reading) -> float | None:
    """Take address and connections from the command of a tool that prints neither; return the seconds it asks for."""
    command = re.compile(rf"(?:^|[\s#$;/]){reading.tool}\s+(?P<options>(?:-|.*https?://).*)$")
    options = options_above(lines, start, command)
    if not options:
        return None
    if url := _URL.search(options):
        reading.parameters["url"] = url["url"]
    if connections := _CONNECTIONS.search(options):
        reading.parameters["connections"] = int(connections[1])
    elif not _OTHER_CONNECTIONS.search(options):
        reading.parameters["connections"] = _DEFAULT_CONNECTIONS
    if _RATE.search(options):
        reading.untold = ("rate_rps",)
    duration = _DURATION.search(options)
    number = exact(duration[1]) if duration else None
    return float(number * seconds_of(duration[2] or "s")) if duration and number is not None else None
