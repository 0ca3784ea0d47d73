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
from benchweb.charts.matrix.difference import Difference, baseline_cell, difference, sequential_level
from benchweb.charts.matrix.figures import Cell, MatrixTable
from benchweb.common.formatting import Quantity, plain, quantity, repetitions
from benchweb.results.latest_medians import SeriesTest
from benchweb.state_words import state_word
from benchweb.web.matrix.query import MatrixQuery
from benchweb.web.tags.sparklines import change_size


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class ShownCell:
    """One cell; `shown` is None where there is no number, and `word` says why."""

    css: str
    href: str
    title: str
    shown: Quantity | None = None
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

    def shown(self, table: MatrixTable, cell: Cell) -> ShownCell:
        """Prepare a cell."""
        match cell.state:
            case "itself":
                return ShownCell("itself", "", _("the same endpoint"))
            case "unconfigured":
                return ShownCell("unconfigured", "", _("no pair in this direction"), word="·")
            case "empty":
                title = _("no result of this test yet")
                return ShownCell("without-result", self._history(cell, table.axes.environment), title, word="—")
            case "failed":
                return self._failed(table, cell)
        return self._value(table, cell)

    def _failed(self, table: MatrixTable, cell: Cell) -> ShownCell:
        end = cell.failures[0]
        before = ""
        if cell.found:
            stands = repetitions(cell.found.median, cell.found.extremes, self.metric.unit, cell.found.n)
            before = _("previously: %(value)s") % {"value": f"{self._written(cell.found.median)} · {stands}"}
        return ShownCell(
            css="failed",
            href=self._history(cell, table.axes.environment),
            title=reason_text(end.reason),
            word=state_word(end.state),
            word_css=f"state-{end.state}",
            word_href=reverse("web:run", args=[end.id]),
            note=before,
            history=_course(cell),
        )

    def _value(self, table: MatrixTable, cell: Cell) -> ShownCell:
        # A cell in this state has a summary and a mean.
        assert cell.found and cell.mean is not None and self.bounds  # noqa: S101
        base = baseline_cell(self.tables, self.query.baseline, table, cell) if self.query.baseline else None
        found = difference(cell.found, base.found, self.metric) if base and base.found else None
        change, change_title = _change(found, self.metric)
        shown = self._written(cell.found.median)
        level = f"heat heat-{sequential_level(cell.found.median, self.bounds)}"
        return ShownCell(
            css=_difference_css(found) if self.query.baseline else level,
            href=self._history(cell, table.axes.environment),
            title=self._title(cell, shown.full),
            shown=shown,
            mean=self._written(cell.mean) if self.equivalent else None,
            meta=_meta(cell, self.metric.unit),
            history=_course(cell),
            note=_failures(cell),
            change=change,
            change_title=change_title,
            change_css=f"change-{found.sense}" if found and found.is_distinct else "",
            base_href=self._base_url(table, cell),
            is_base=self._is_base(table, cell),
        )

    def _written(self, value: float) -> Quantity:
        if self.equivalent is None:
            return quantity(value, self.metric.unit)
        full = quantity(value, self.metric.unit).full
        return Quantity(plain(self.equivalent.of(value), self.equivalent.decimals), self.equivalent.unit, full)

    def _title(self, cell: Cell, full: str) -> str:
        assert cell.found and cell.at  # noqa: S101
        unit = self.metric.unit
        texts = {
            "full": full,
            "low": quantity(cell.found.low, unit),
            "high": quantity(cell.found.high, unit),
            "runs": ", ".join(map(str, cell.runs[:3])) + ("…" if len(cell.runs) > 3 else ""),
            "at": f"{cell.at:%Y-%m-%d %H:%M} UTC",
        }
        return _("median %(full)s, from %(low)s to %(high)s; run %(runs)s, %(at)s") % texts

    # Once for all cells: a copy of the query string for each would take longer than all queries.
    @cached_property
    def _history_start(self) -> str:
        if self.test is None:
            return ""
        known = catalog().kinds[self.test.kind].parameters
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
    assert cell.found  # noqa: S101
    found = cell.found
    parts = [repetitions(found.median, found.extremes, unit, found.n)]
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


def _change(found: Difference | None, metric: Metric) -> tuple[str, str]:
    """Say a difference, and what its title tells besides."""
    if found is None:
        return "", ""
    size = _size(found, metric)
    if not found.is_distinct:
        return _("no significant change"), _("%(size)s, within the spread") % {"size": size}
    return f"{'▲' if found.absolute > 0 else '▼'} {size}", ""


def _size(found: Difference, metric: Metric) -> str:
    if found.ratio is None and metric.unit != "ratio":
        return f"{quantity(found.absolute, metric.unit)}"
    return change_size(found.ratio or 0.0, found.absolute, metric.unit)


def _difference_css(found: Difference | None) -> str:
    if found is None or not found.is_distinct:
        return "level"
    side = "up" if found.sense in ("better", "higher") else "down"
    return f"level level-{side}-{found.level}"
