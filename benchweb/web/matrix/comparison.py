"""A matrix compared with another time: its verdicts in words, and the targets that hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.catalog import Metric
from benchweb.charts.matrix.figures import Cell, MatrixTable
from benchweb.charts.matrix.verdicts import CellVerdict, summed_up, table_verdicts, usual_verdicts, verdict_word
from benchweb.common.formatting import quantity
from benchweb.hosts.grid import GridPair
from benchweb.regressions.marks import PairMarks, Target, marks_of
from benchweb.results.latest_deviations import latest_deviations
from benchweb.results.latest_medians import SeriesTest
from benchweb.results.reference_runs import reference_runs
from benchweb.web.matrix.query import USUAL, MatrixQuery
from benchweb.web.tags.sparklines import change_size

_SECOND = timedelta(seconds=1)
_NO_MARKS = PairMarks({}, (), (), {})


@dataclass(frozen=True)
class ComparedMatrix:
    """What is known of the shown cells beside their figures."""

    marks: PairMarks
    # None where nothing is compared.
    verdicts: Mapping[tuple[int, int | str, int | str], CellVerdict] | None

    def verdict(self, environment: int, cell: Cell) -> CellVerdict | None:
        return self.verdicts.get((environment, cell.row, cell.column)) if self.verdicts is not None else None

    def alert(self, cell: Cell) -> str:
        """Return the page of the alert of a cell's pair; empty without one, and for several pairs."""
        alert = self.marks.alerts.get(cell.pairs[0]) if len(cell.pairs) == 1 else None
        return reverse("web:alert", args=[alert]) if alert else ""

    def missed(self, environment: int, cell: Cell) -> Target | None:
        """Return the target that a cell of one pair misses."""
        target = self.target(environment, cell)
        return target if target and cell.summary and target.is_missed(cell.summary.median) else None

    def target(self, environment: int, cell: Cell) -> Target | None:
        return self.marks.target_of(cell.pairs[0], environment) if len(cell.pairs) == 1 else None


def compared_matrix(
    query: MatrixQuery,
    tables: Sequence[MatrixTable],
    pairs: Sequence[GridPair],
    *,
    test: SeriesTest | None,
    metric: Metric,
) -> ComparedMatrix:
    """Read what else is known of the cells, and judge them where they are compared; two queries at most."""
    if test is None:
        return ComparedMatrix(_NO_MARKS, None)
    ids = [pair.id for pair in pairs]
    marks = marks_of(ids, kind=test.kind, metric=metric.key, digest=test.digest, baseline=query.baseline_name)
    if not query.compared:
        return ComparedMatrix(marks, None)
    if query.compared == USUAL:
        return ComparedMatrix(
            marks, usual_verdicts(tables, latest_deviations(ids, test=test, metric=metric.key), metric)
        )
    untils: dict[int, datetime] = {}
    if query.reference is not None:
        untils = dict.fromkeys(ids, query.reference)
    elif query.baseline_name:
        untils = {pair: at + _SECOND for pair, at in marks.pinned.items()}
    references = reference_runs(untils, test=test, metric=metric.key)
    return ComparedMatrix(marks, table_verdicts(tables, references, metric))


def table_words(compared: ComparedMatrix, table: MatrixTable) -> str:
    """Say what a table's comparison comes to."""
    return "; ".join(summed_up(table, compared.verdicts)) if compared.verdicts is not None else ""


def target_words(target: Target, metric: Metric) -> str:
    """Say a target: ≥ 9.40 Gbit/s."""
    return f"{'≥' if target.is_least else '≤'} {quantity(target.limit, metric.unit)}"


def verdict_texts(verdict: CellVerdict, metric: Metric) -> tuple[str, str, str]:
    """Return a cell's change in short, the whole of it for a title, and its class."""
    word = verdict_word(verdict.word)
    before = ""
    if verdict.reference is not None and verdict.at is None:
        before = _("usual: %(value)s") % {"value": quantity(verdict.reference, metric.unit)}
    elif verdict.reference is not None and verdict.at is not None:
        figures = {"value": quantity(verdict.reference, metric.unit), "at": f"{verdict.at:%Y-%m-%d %H:%M}"}
        before = _("%(value)s at %(at)s UTC") % figures
    if verdict.word == "unknown":
        return word, "; ".join(filter(None, [verdict.why, before])), ""
    size = change_size(verdict.ratio or 0.0, verdict.absolute, metric.unit)
    if verdict.word == "same":
        return word, "; ".join(filter(None, [size, before])), ""
    if verdict.ratio is None and metric.unit != "ratio":
        size = str(quantity(verdict.absolute, metric.unit))
    arrow = "▲" if verdict.absolute > 0 else "▼"
    return f"{arrow} {size} {word}", before, f"change-{verdict.word}"


def verdict_css(verdict: CellVerdict | None) -> str:
    """Return the class that colours a cell by its verdict."""
    if verdict is None or verdict.word == "unknown":
        return "level is-unknown"
    if verdict.word == "same":
        return "level"
    side = "up" if verdict.word in ("better", "higher") else "down"
    return f"level level-{side}-{verdict.level}"
