"""What remains of a path's bandwidth, as an author says it: a figure of their own, or what was measured beside others.

A line for each run: "12: 400 Mbit/s, by the provider" or "12: under 500 Mbit/s of backups".
"""

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(?P<run>\d{1,18})\s*[:：]\s*"
    r"(?:under\s+(?P<background>\S.{0,199})"
    r"|(?P<number>\d{1,12}(?:\.\d{1,9})?)\s*(?P<prefix>[kMGT]?)bit/s(?:\s*[,，;]\s*(?P<whose>\S.{0,199}))?)"
)
_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Remaining:
    """What the author says of a run: a figure of their own and whose it is, or beside which traffic it was measured."""

    entered_bps: float | None = None
    whose: str = ""
    background: str = ""


class RemainingFault(ValueError):
    """A line that says neither."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.line = line


def remaining_read(text: str) -> dict[int, Remaining]:
    """Return what a report's lines say of each run; raise RemainingFault."""
    return dict(_read_line(line.strip()) for line in text.splitlines() if line.strip())


def _read_line(line: str) -> tuple[int, Remaining]:
    read = _LINE.fullmatch(line)
    if read is None:
        raise RemainingFault(line)
    if background := read["background"]:
        return int(read["run"]), Remaining(background=background)
    return int(read["run"]), Remaining(float(read["number"]) * _FACTORS[read["prefix"]], whose=read["whose"] or "")
