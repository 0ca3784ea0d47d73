"""A page's filters as a line of chips that reads as a sentence: declared by the page, drawn by shared/chips."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal


@dataclass(frozen=True)
class Filter:
    """A value of the address and its control; in the sentence where it is a main one or chosen, else behind More."""

    name: str
    label: str
    chosen: str = ""
    # Values and their words; of many under headings in `groups`.
    options: Sequence[tuple[str, str]] = ()
    groups: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    # The words of no choice; empty where one is always made.
    any: str = ""
    form: Literal["select", "search", "text", "date"] = "select"
    # What stands before the value in the sentence, such as "as of"; a date alone says too little.
    lead: str = ""
    hint: str = ""
    is_main: bool = False

    @property
    def is_said(self) -> bool:
        """Tell whether the sentence has it."""
        return self.is_main or bool(self.chosen)

    @property
    def words(self) -> str:
        """Say what is chosen."""
        offered = [*self.options, *(option for _heading, options in self.groups for option in options)]
        value = next((words for value, words in offered if value == self.chosen), self.chosen) or self.any
        return " ".join(filter(None, [self.lead, value]))


@dataclass(frozen=True)
class FilterNote:
    """What the address narrows that no control chooses, the way to be rid of it, and maybe a page about it."""

    words: str
    url: str
    label: str
    about_url: str = ""


@dataclass(frozen=True)
class FilterLine:
    """The filters of a page; `target` is the element that their answer replaces."""

    url: str
    target: str
    filters: Sequence[Filter]
    # What the form carries along.
    carried: Sequence[tuple[str, str]] = ()
    notes: Sequence[FilterNote] = ()
    # What else the sentence says, such as the time, whose controls are no part of the form.
    ending: str = ""

    @cached_property
    def said(self) -> list[Filter]:
        return [each for each in self.filters if each.is_said]

    @cached_property
    def others(self) -> list[Filter]:
        return [each for each in self.filters if not each.is_said]

    @property
    def has_search(self) -> bool:
        return any(each.form == "search" for each in self.filters)

    @property
    def sentence(self) -> str:
        """Say all of it, for where there is no room for controls."""
        words = [*(each.words for each in self.said), self.ending, *(note.words for note in self.notes)]
        return " · ".join(filter(None, words))
