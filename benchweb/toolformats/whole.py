"""A text by its lines and as one: joined once, however many look through it, and only if one does."""

from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate


class Whole:
    """All lines as one text, and where each begins; behind the last stands where the next would."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        # Of a document that was cut off the rest isn't told line by line.
        self.is_cut_off = False

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def starts(self) -> Sequence[int]:
        return array("L", accumulate((len(line) + 1 for line in self.lines), initial=0))
