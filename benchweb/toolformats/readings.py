"""What a tool printed, as data: readings of figures, with the lines that they came from."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

# More lines of a tool's than these with no row of a test are passed over, not tried again from the next one on.
LONGEST_HEAD = 30


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that a tool printed: `value` in `unit`, known to as many significant `digits` as `text` shows.

    `metric` is the catalog's name where it has one, else the tool's own word. `part` names the flow, thread or
    interface that the number belongs to, and is empty for the whole. `is_derived`: computed from printed ones.
    `label`: the words beside the number, where the text has words of its own.
    """

    metric: str
    value: float
    unit: str
    digits: int
    text: str
    part: str = ""
    is_derived: bool = False
    label: str = ""


class RowFigures:
    """Figures of a row, made whenever they are asked for: kept, those of a day's rows take ten times their text."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Iterable[Figure | None]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Figure]:
        return (figure for figure in self._make() if figure)


@dataclass(frozen=True, slots=True)
class Interval:
    """Figures of one interval, in seconds from the test's begin; `at` where the tool printed a time of day instead."""

    begin_seconds: float | None
    end_seconds: float | None
    figures: Iterable[Figure]
    part: str = ""
    at: str = ""
    is_omitted: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines `first` to `last` of a document, counted from 1, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that looks like a tool's but wasn't understood: where it stands, as it stands, and why."""

    line: int
    text: str
    reason: str


@dataclass(slots=True)
class Reading:
    """One result of one tool. `test` is its name there, `kind` the catalog's where the catalog measures the same."""

    tool: str
    test: str
    kind: str | None = None
    version: str = ""
    parameters: dict[str, int | float | str | bool] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    intervals: list[Interval] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    error: str = ""
    began_at: datetime | None = None
    lines: Lines = Lines(0, 0)
    # Settings that the tool would have printed in what was left out: not even its own default is known.
    untold: tuple[str, ...] = ()
    # Printed by a server, of a test that it had with a client.
    is_server: bool = False

    def figure(self, metric: str, part: str = "") -> Figure | None:
        """Return the figure of a metric, or None when the tool printed none."""
        return next((figure for figure in self.figures if figure.metric == metric and figure.part == part), None)

    def value(self, metric: str, part: str = "") -> float | None:
        figure = self.figure(metric, part)
        return None if figure is None else figure.value

    def add(self, figure: Figure | None) -> None:
        """Add a figure; None, a number that the tool left out, adds nothing."""
        if figure is not None:
            self.figures.append(figure)

    def note(self, name: str, value: float | None) -> None:
        """Note a parameter; None, a number that is none, notes nothing."""
        if value is not None:
            self.parameters[name] = value


@dataclass(frozen=True, slots=True)
class ToolDocument:
    """All that was read from one text: readings in their order, and lines of tools that weren't understood.

    `begins` is its first line with a word; `excerpts` are what the tools printed, by a reading's first and last line.
    """

    readings: tuple[Reading, ...]
    unread: tuple[Unread, ...]
    begins: str = ""
    excerpts: Mapping[tuple[int, int], str] = field(default_factory=dict, repr=False)
    text_lines: Sequence[str] = field(default=(), repr=False)

    def raw(self, reading: Reading) -> str:
        """Return what the tool printed, as it stands in the text."""
        first, last = reading.lines.first, reading.lines.last
        return self.excerpts.get((first, last)) or "\n".join(self.text_lines[first - 1 : last])

    def tools(self) -> Mapping[str, int]:
        """Return how many readings each tool has."""
        counts: dict[str, int] = {}
        for reading in self.readings:
            counts[reading.tool] = counts.get(reading.tool, 0) + 1
        return counts

    def __iter__(self) -> Iterator[Reading]:
        return iter(self.readings)


class ToolFormatError(ValueError):
    """A file that can't be read at all, said in words for its owner."""
