"""A matrix beside another time: each cell worse, better, not significantly changed or unknown; and that in words."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import Metric
from benchweb.charts.matrix.difference import change_level
from benchweb.charts.matrix.figures import AxisItem, Cell, MatrixTable
from benchweb.results.latest_deviations import LatestDeviation
from benchweb.results.latest_medians import Newest
from benchweb.results.reference_runs import ReferenceRuns
from benchweb.results.run_summaries import deviation_of
from benchweb.statistics.deciding import NOISE_TIMES

Word = Literal["worse", "better", "higher", "lower", "same", "unknown"]
# Of a row or a column so many must be known before it is summed up, and of a large one most must agree.
_LEAST_KNOWN = 2
_MOST_SHARE, _LEAST_OF_MOST = 0.75, 4
_MOST_SENTENCES = 4


@dataclass(frozen=True)
class CellVerdict:
    """How a cell stands beside its reference; `level` is 1 to 4 where it has changed, `why` says what is unknown."""

    word: Word
    ratio: float | None = None
    absolute: float = 0.0
    reference: float | None = None
    at: datetime | None = None
    level: int = 0
    why: str = ""


def cell_verdict(cell: Cell, references: Mapping[int, ReferenceRuns], metric: Metric) -> CellVerdict | None:
    """Judge a cell by the run of another time; None where nothing was ever measured."""
    return _of_pairs([_pair_verdict(newest, references.get(pair), metric) for pair, newest in cell.newest.items()])


def usual_verdict(latest: LatestDeviation | None, metric: Metric) -> CellVerdict:
    """Judge a pair's latest run by what is usual: the runs before it, as lists and the overview do."""
    if latest is None or latest.baseline is None:
        return CellVerdict("unknown", why=_("no run before"))
    absolute = latest.median - latest.baseline
    ratio = absolute / abs(latest.baseline) if latest.baseline else None
    known = CellVerdict("unknown", ratio, absolute, latest.baseline)
    if latest.score is None:
        return replace(known, why=_few_runs(latest.runs_before))
    if abs(latest.score) <= NOISE_TIMES:
        return replace(known, word="same")
    return replace(known, word=_word(absolute, metric), level=change_level(ratio))


def _of_pairs(of_pairs: Sequence[CellVerdict]) -> CellVerdict | None:
    """Return a cell's verdict: of several pairs what most of them are."""
    if len(of_pairs) < 2:
        return of_pairs[0] if of_pairs else None
    known = [verdict for verdict in of_pairs if verdict.word != "unknown"]
    if not known:
        return of_pairs[0]
    words = Counter(verdict.word for verdict in known)
    word, count = words.most_common(1)[0]
    word = word if count * 2 > len(known) else "same"
    ratios = [verdict.ratio for verdict in known if verdict.ratio is not None]
    ratio = median(ratios) if ratios else None
    changed = word not in ("same", "unknown")
    return CellVerdict(
        word=word,
        ratio=ratio,
        absolute=median(verdict.absolute for verdict in known),
        reference=median(verdict.reference for verdict in known if verdict.reference is not None),
        at=max((verdict.at for verdict in known if verdict.at), default=None),
        level=change_level(ratio) if changed else 0,
    )


def _pair_verdict(newest: Newest, reference: ReferenceRuns | None, metric: Metric) -> CellVerdict:
    """Judge a pair's newest run by the noise of the runs up to the one that it is compared with."""
    if reference is None:
        return CellVerdict("unknown", why=_("no result of that time"))
    value, before = median(newest.runs[0].values), reference.medians[0]
    absolute = value - before
    ratio = absolute / abs(before) if before else None
    known = CellVerdict("unknown", ratio, absolute, before, reference.ats[0])
    if newest.runs[0].run in reference.runs:
        return replace(known, why=_("no run since then"))
    # The noise is that of the runs around the reference, and the difference is from it.
    change = deviation_of(
        [*(value_before + before - median(reference.medians) for value_before in reference.medians), value], metric
    )
    if change is None or change.is_learning:
        return replace(known, why=_few_runs(len(reference.runs)))
    if not change.is_significant:
        return replace(known, word="same")
    return replace(known, word=_word(absolute, metric), level=change_level(ratio))


def _few_runs(count: int) -> str:
    return ngettext("only %(count)s run before", "only %(count)s runs before", count) % {"count": count}


def _word(absolute: float, metric: Metric) -> Word:
    if metric.better == "neutral":
        return "higher" if absolute > 0 else "lower"
    return "better" if (absolute > 0) == (metric.better == "higher") else "worse"


Verdicts = Mapping[tuple[int, int | str, int | str], CellVerdict]


def table_verdicts(
    tables: Sequence[MatrixTable], references: Mapping[int, ReferenceRuns], metric: Metric
) -> dict[tuple[int, int | str, int | str], CellVerdict]:
    """Judge all shown cells by runs of another time, by environment, row and column."""
    return _judged(tables, lambda cell: cell_verdict(cell, references, metric))


def usual_verdicts(
    tables: Sequence[MatrixTable], latest: Mapping[int, LatestDeviation], metric: Metric
) -> dict[tuple[int, int | str, int | str], CellVerdict]:
    """Judge all shown cells by what is usual, by environment, row and column."""

    def of_pair(pair: int, newest: Newest) -> CellVerdict:
        known = latest.get(pair)
        if known is not None and known.run != newest.runs[0].run:
            # A matrix of another day, or a run that ended a moment ago.
            return CellVerdict("unknown", why=_("only a pair's latest run is compared with what is usual"))
        return usual_verdict(known, metric)

    return _judged(tables, lambda cell: _of_pairs([of_pair(*each) for each in cell.newest.items()]))


def _judged(
    tables: Sequence[MatrixTable], judge: Callable[[Cell], CellVerdict | None]
) -> dict[tuple[int, int | str, int | str], CellVerdict]:
    cells = [(table.axes.environment, cell) for table in tables for line in table.cells for cell in line]
    return {
        (environment, cell.row, cell.column): verdict
        for environment, cell in cells
        if (verdict := judge(cell)) is not None
    }


def summed_up(table: MatrixTable, verdicts: Verdicts) -> list[str]:
    """Say what a table comes to: all of it, else whole rows and columns, and then the numbers."""
    words = {
        (cell.row, cell.column): verdict.word
        for line in table.cells
        for cell in line
        if (verdict := verdicts.get((table.axes.environment, cell.row, cell.column)))
    }
    if not words:
        return []
    sentences = _whole(list(words.values())) or [*_rows(table, words), *_columns(table, words)][:_MOST_SENTENCES]
    return [*sentences, numbers_text(Counter(words.values()))]


def _whole(words: Sequence[Word]) -> list[str]:
    known = [word for word in words if word != "unknown"]
    if len(known) < _LEAST_KNOWN or len(set(known)) > 1 or known[0] == "same":
        return []
    return [str(_of_all()[known[0]])]


def _rows(table: MatrixTable, words: Mapping[tuple[int | str, int | str], Word]) -> list[str]:
    return _lines(
        [(item, [word for (row, _c), word in words.items() if row == item.key]) for item in table.axes.visible_rows],
        all_of=_("all from %(name)s %(word)s"),
        most_of=_("%(count)s of %(total)s from %(name)s %(word)s"),
    )


def _columns(table: MatrixTable, words: Mapping[tuple[int | str, int | str], Word]) -> list[str]:
    return _lines(
        [
            (item, [word for (_r, column), word in words.items() if column == item.key])
            for item in table.axes.visible_columns
        ],
        all_of=_("all to %(name)s %(word)s"),
        most_of=_("%(count)s of %(total)s to %(name)s %(word)s"),
    )


def _lines(lines: Sequence[tuple[AxisItem, list[Word]]], *, all_of: str, most_of: str) -> list[str]:
    sentences = []
    for item, words in lines:
        known = [word for word in words if word != "unknown"]
        if len(known) < _LEAST_KNOWN:
            continue
        word, count = Counter(known).most_common(1)[0]
        is_most = len(known) >= _LEAST_OF_MOST and count >= _MOST_SHARE * len(known)
        if word == "same" or not (count == len(known) or is_most):
            continue
        name = f"{item.label} ({item.detail})" if item.detail else item.label
        form = all_of if count == len(known) else most_of
        sentences.append(form % {"name": name, "word": verdict_word(word), "count": count, "total": len(known)})
    return sentences


def numbers_text(counts: Mapping[str, int]) -> str:
    """Say how many pairs have each verdict."""
    texts = {
        "worse": _("%(count)s worse"),
        "better": _("%(count)s better"),
        "higher": _("%(count)s higher"),
        "lower": _("%(count)s lower"),
        "same": _("%(count)s without a significant change"),
        "unknown": _("%(count)s unknown"),
        "missing": _("%(count)s without a result"),
    }
    return ", ".join(text % {"count": counts[word]} for word, text in texts.items() if counts.get(word))


def _of_all() -> dict[str, str]:
    return {
        "worse": _("all pairs worse"),
        "better": _("all pairs better"),
        "higher": _("all pairs higher"),
        "lower": _("all pairs lower"),
    }


def verdict_word(word: Word) -> str:
    """Say a verdict."""
    return {
        "worse": _("worse"),
        "better": _("better"),
        "higher": _("higher"),
        "lower": _("lower"),
        "same": _("no significant change"),
        "unknown": _("unknown"),
    }[word]
