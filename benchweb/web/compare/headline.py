"""What a comparison comes to: the largest differences with their intervals, and what could have been seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog.translation import sentence_space
from benchweb.charts.comparison.rows import OF_HOSTS, Entry, MeasureRow, importance
from benchweb.common.formatting import significant
from benchweb.documents.references import joined_label
from benchweb.statistics import Verdict
from benchweb.web.compare.words import words
from benchweb.web.tags.show import params_text

_MOST_CHANGES = 3
_ORDER = ("worse", "changed", "better")


@dataclass(frozen=True)
class HeadlineChange:
    """One difference: what of, how large, and the interval."""

    tone: str
    what: str
    arrow: str
    change: str
    interval: str


@dataclass(frozen=True)
class ComparedHeadline:
    """A column's differences from the baseline, those that are worse first; `rest` says what else there is."""

    changes: list[HeadlineChange]
    rest: str
    # Whether these samples could have shown any difference at all.
    can_tell: bool


def headline(rows: Sequence[MeasureRow], column: int, judged: int) -> ComparedHeadline:
    """Say what sets a column apart from the baseline."""
    entries = [(row, row.entries[column]) for row in rows]
    changed = sorted(((row, entry) for row, entry in entries if entry.change), key=_rank)
    return ComparedHeadline(
        changes=[_change(row, entry, judged) for row, entry in changed[:_MOST_CHANGES]],
        rest=sentence_space().join(_rest([entry for _, entry in changed], [entry for _, entry in entries])),
        can_tell=judged > 0,
    )


def _rank(changed: tuple[MeasureRow, Entry]) -> tuple[bool, int, int, float]:
    row, entry = changed
    ratio = entry.difference.ratio if entry.difference else None
    rank = importance(row.measure)
    size = abs(ratio if ratio is not None else float("inf"))
    return rank == OF_HOSTS, _ORDER.index(entry.change or "better"), rank, -size


def _change(row: MeasureRow, entry: Entry, judged: int) -> HeadlineChange:
    text = words(entry, row.measure.metric, judged)
    # An entry that changed has a difference.
    assert text is not None  # noqa: S101
    settings = params_text(row.measure.kind.name, row.measure.params)
    return HeadlineChange(
        tone=text.tone,
        what=joined_label([row.measure.metric.label, row.measure.kind.label, settings]),
        arrow=text.arrow,
        change=" ".join(filter(None, [text.change, text.tone_words])),
        interval=text.interval,
    )


def _rest(changed: Sequence[Entry], entries: Sequence[Entry]) -> list[str]:
    sentences = []
    left = len(changed) - _MOST_CHANGES
    if left > 0:
        sentences.append(ngettext("%(count)s more differs.", "%(count)s more differ.", left) % {"count": left})
    same = [entry for entry in entries if entry.verdict in (Verdict.NONE_SHOWN, Verdict.PERHAPS)]
    if share := _least_share(same):
        text = _("Half of the other metrics would have shown a change of %(share)s %% or less.")
        without_changes = _("Half of the metrics would have shown a change of %(share)s %% or less.")
        sentences.append((text if changed else without_changes) % {"share": significant(share * 100, digits=2)})
    return sentences


def _least_share(entries: Sequence[Entry]) -> float:
    """Return the median of the smallest changes that would have been shown, as a share; 0 where none is known."""
    shares = [
        abs(share)
        for entry in entries
        if (difference := entry.difference)
        and difference.least_shift_shown
        and (share := difference.share(difference.least_shift_shown))
    ]
    return median(shares) if shares else 0.0
