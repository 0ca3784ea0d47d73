"""A matrix's cells as the page shows them: words, numbers and links, so that its template only writes them down."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import Equivalent, Metric, catalog
from benchweb.catalog.translation import reason_text
from benchweb.charts.history.choices import parameter_text
from benchweb.charts.matrix.difference import CellDifference, baseline_cell, difference, sequential_level
from benchweb.charts.matrix.figures import Cell, MatrixTable
from benchweb.common.formatting import Quantity, plain, quantity, repetitions
from benchweb.results.latest_medians import SeriesTest
from benchweb.state_words import state_word
from benchweb.web.matrix.comparison import ComparedMatrix, target_words, verdict_css, verdict_texts
from benchweb.web.matrix.query import MatrixQuery
from benchweb.web.tags.sparklines import change_size


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class DisplayedCell:
    """One cell; `figure` is None where there is no number, and `word` says why."""

    css: str
    href: str
    title: str
    figure: Quantity | None = None
    mean: Quantity | None = None
    meta: str = ""
    history: list[float | None] = field(default_factory=list)
    word: str = ""
    word_css: str = ""
    word_href: str = ""
    note: str = ""
    change: str = ""
    change_title: str = ""
    change_css: str = ""
    base_href: str = ""
    is_base: bool = False
    # Its target in words, and whether it misses it; the page of its alert.
    target: str = ""
    is_missed: bool = False
    alert_href: str = ""


@dataclass(frozen=True)
class CellMaker:
    """What all cells of a page have in common."""

    query: MatrixQuery
    tables: list[MatrixTable]
    test: SeriesTest | None
    metric: Metric
    equivalent: Equivalent | None
    bounds: tuple[float, float] | None
    # What tells the test from the others of its kind, defaults included: a link to it must name all of it.
    settings: dict[str, Any]
    compared: ComparedMatrix

    def displayed(self, table: MatrixTable, cell: Cell) -> DisplayedCell:
        """Prepare a cell."""
        match cell.state:
            case "itself":
                return DisplayedCell("itself", "", _("the same endpoint"))
            case "unconfigured":
                return DisplayedCell("unconfigured", "", _("no pair in this direction"), word="·")
            case "empty":
                title = _("no result of this test yet")
                return DisplayedCell("without-result", self._history(cell, table.axes.environment), title, word="—")
            case "failed":
                return self._failed(table, cell)
        return self._value(table, cell)

    def _failed(self, table: MatrixTable, cell: Cell) -> DisplayedCell:
        end = cell.failures[0]
        before = ""
        if cell.summary:
            measured = repetitions(cell.summary.median, cell.summary.extremes, self.metric.unit, cell.summary.n)
            before = _("previously: %(value)s") % {"value": f"{self._written(cell.summary.median)} · {measured}"}
        return DisplayedCell(
            css="failed",
            href=self._history(cell, table.axes.environment),
            title=reason_text(end.reason),
            word=state_word(end.state),
            word_css=f"state-{end.state}",
            word_href=reverse("web:run", args=[end.id]),
            note=before,
            history=_course(cell),
        )

    def _value(self, table: MatrixTable, cell: Cell) -> DisplayedCell:
        # A cell in this state has a summary and a mean.
        assert cell.summary and cell.mean is not None and self.bounds  # noqa: S101
        base = baseline_cell(self.tables, self.query.baseline, table, cell) if self.query.baseline else None
        apart = difference(cell.summary, base.summary, self.metric) if base and base.summary else None
        change, change_title = _change(apart, self.metric)
        change_css = f"change-{apart.sense}" if apart and apart.is_distinct else ""
        verdict = self.compared.verdict(table.axes.environment, cell)
        if verdict is not None:
            change, change_title, change_css = verdict_texts(verdict, self.metric)
        target = self.compared.target(table.axes.environment, cell)
        figure = self._written(cell.summary.median)
        level = f"heat heat-{sequential_level(cell.summary.median, self.bounds)}"
        is_compared = self.compared.verdicts is not None
        return DisplayedCell(
            css=verdict_css(verdict) if is_compared else _difference_css(apart) if self.query.baseline else level,
            href=self.compared.alert(cell) or self._history(cell, table.axes.environment),
            title=self._title(cell, figure.full),
            figure=figure,
            mean=self._written(cell.mean) if self.equivalent else None,
            meta=_meta(cell, self.metric.unit),
            history=_course(cell),
            note=_failures(cell),
            change=change,
            change_title=change_title,
            change_css=change_css,
            base_href="" if is_compared else self._base_url(table, cell),
            is_base=self._is_base(table, cell),
            target=target_words(target, self.metric) if target else "",
            is_missed=self.compared.missed(table.axes.environment, cell) is not None,
            alert_href=self.compared.alert(cell),
        )

    def _written(self, value: float) -> Quantity:
        if self.equivalent is None:
            return quantity(value, self.metric.unit)
        full = quantity(value, self.metric.unit).full
        return Quantity(plain(self.equivalent.of(value), self.equivalent.decimals), self.equivalent.unit, full)

    def _title(self, cell: Cell, full: str) -> str:
        assert cell.summary and cell.at  # noqa: S101
        unit = self.metric.unit
        texts = {
            "full": full,
            "low": quantity(cell.summary.low, unit),
            "high": quantity(cell.summary.high, unit),
            "runs": ", ".join(map(str, cell.runs[:3])) + ("…" if len(cell.runs) > 3 else ""),
            "at": f"{cell.at:%Y-%m-%d %H:%M} UTC",
        }
        return _("median %(full)s, from %(low)s to %(high)s; run %(runs)s, %(at)s") % texts

    # Once for all cells: a copy of the query string for each would take longer than all queries.
    @cached_property
    def _history_start(self) -> str:
        if self.test is None:
            return ""
        known = catalog().kinds[self.test.kind].series_parameters
        values = self.settings.items()
        parameters = "".join(f"&p.{name}={quote(parameter_text(known[name], value))}" for name, value in values)
        return f"{reverse('web:history')}?kind={self.test.kind}&metric={self.metric.key}{parameters}"

    @cached_property
    def _base_start(self) -> str:
        return self.query.url(base_environment=None, base_row=None, base_column=None)

    def _history(self, cell: Cell, environment: int) -> str:
        if not self._history_start:
            return reverse("web:pair", args=[cell.pairs[0]])
        if len(cell.pairs) == 1:
            return f"{self._history_start}&pair={cell.pairs[0]}"
        return f"{self._history_start}&environment={environment}&split=pair"

    def _base_url(self, table: MatrixTable, cell: Cell) -> str:
        row, column = (key if isinstance(key, int) else quote(key) for key in (cell.row, cell.column))
        return f"{self._base_start}&base_environment={table.axes.environment}&base_row={row}&base_column={column}"

    def _is_base(self, table: MatrixTable, cell: Cell) -> bool:
        base = self.query.baseline
        if base is None:
            return False
        return (
            base.environment in (None, table.axes.environment)
            and base.row in (None, cell.row)
            and base.column in (None, cell.column)
        )


def _meta(cell: Cell, unit: str) -> str:
    """Say n and spread; of how many pairs, where it is several."""
    assert cell.summary  # noqa: S101
    summary = cell.summary
    parts = [repetitions(summary.median, summary.extremes, unit, summary.n)]
    if len(cell.pairs) > len(cell.runs):
        parts.append(_("%(measured)s of %(count)s pairs") % {"measured": len(cell.runs), "count": len(cell.pairs)})
    elif len(cell.pairs) > 1:
        parts.append(ngettext("%(count)s pair", "%(count)s pairs", len(cell.pairs)) % {"count": len(cell.pairs)})
    return " · ".join(parts)


def _failures(cell: Cell) -> str:
    if not cell.failures:
        return ""
    return _("%(failed)s of %(pairs)s pairs failed") % {"failed": len(cell.failures), "pairs": len(cell.pairs)}


def _course(cell: Cell) -> list[float | None]:
    """Return what a sparkline draws; a single run is no course."""
    return cell.history if sum(value is not None for value in cell.history) > 1 else []


def _change(difference: CellDifference | None, metric: Metric) -> tuple[str, str]:
    """Say a difference, and what its title tells besides."""
    if difference is None:
        return "", ""
    size = _size(difference, metric)
    if not difference.is_distinct:
        return _("no significant change"), _("%(size)s, within the spread") % {"size": size}
    return f"{'▲' if difference.absolute > 0 else '▼'} {size}", ""


def _size(difference: CellDifference, metric: Metric) -> str:
    if difference.ratio is None and metric.unit != "ratio":
        return f"{quantity(difference.absolute, metric.unit)}"
    return change_size(difference.ratio or 0.0, difference.absolute, metric.unit)


def _difference_css(difference: CellDifference | None) -> str:
    if difference is None or not difference.is_distinct:
        return "level"
    side = "up" if difference.sense in ("better", "higher") else "down"
    return f"level level-{side}-{difference.level}"
