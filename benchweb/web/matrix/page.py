"""The matrix page's prepared structure: tables and legend, in a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from benchweb.catalog import Equivalent, Metric, catalog, equivalent_named
from benchweb.charts.matrix.difference import SEQUENTIAL_LEVELS
from benchweb.charts.matrix.figures import (
    WINDOW,
    Axes,
    AxisItem,
    Cell,
    MatrixTable,
    axes_of,
    matrix_tables,
    value_range,
    visible_pairs,
)
from benchweb.charts.matrix.picture import MOST_ITEMS, square_pixels
from benchweb.common.formatting import Quantity, plain, quantity
from benchweb.hosts.grid import GridEndpoint, GridPair, grid_endpoints
from benchweb.results.latest_medians import MatrixEnvironment, SeriesTest, measured_tests, metrics_of_test
from benchweb.web.matrix.cells import CellMaker, DisplayedCell
from benchweb.web.matrix.comparison import ComparedMatrix, compared_matrix, table_words
from benchweb.web.matrix.query import MatrixQuery, chosen_test

# Tests and metrics are looked for among so many of the shown pairs, evenly chosen from each environment: among many
# pairs that nothing was measured on yet, the few with results of the other table would be missed.
_PAIRS_ASKED_FOR_TESTS = 24
_PAIRS_ASKED_FOR_METRICS = 6
_ONE_TIME = timedelta(minutes=30)


@dataclass(frozen=True)
class MatrixRow:
    """A row of cells; `base_href` makes it the baseline."""

    item: AxisItem
    cells: list[DisplayedCell]
    base_href: str
    is_base: bool


@dataclass(frozen=True)
class AxisSpan:
    """Which part of an axis is shown: `first` to `last` of `total`, with links to what is before and behind."""

    first: int
    last: int
    total: int
    before: str
    behind: str


@dataclass(frozen=True)
class ShownTable:
    """One environment's table, and where it shows a part, the picture of the whole in pixels."""

    environment: MatrixEnvironment
    columns: list[AxisItem]
    rows: list[MatrixRow]
    row_span: AxisSpan
    column_span: AxisSpan
    base_href: str
    is_base: bool
    picture_url: str
    # What its comparison with another time comes to.
    words: str = ""
    picture_width: int = 0
    picture_height: int = 0
    is_too_large: bool = False


@dataclass(frozen=True)
class MatrixView:
    """A matrix as its page shows it."""

    query: MatrixQuery
    tables: list[ShownTable]
    test: SeriesTest | None
    settings: dict[str, Any]
    metric: Metric
    equivalent: Equivalent | None
    bounds: tuple[Quantity, Quantity] | None
    levels: range
    has_baseline: bool
    is_baseline_visible: bool
    clear_href: str
    current_href: str
    # The day that it is as of, and what the picture's form carries along.
    until: str
    carried: list[tuple[str, str]]
    # When the oldest and the newest of the values shown were measured.
    oldest: datetime | None
    newest: datetime | None
    is_compared: bool

    @property
    def is_of_one_time(self) -> bool:
        """Tell whether all values are so near in time that their ages have the same words."""
        return self.newest is not None and self.oldest is not None and self.newest - self.oldest < _ONE_TIME

    @property
    def is_by_mode(self) -> bool:
        """Tell whether a cell is of several pairs together."""
        return self.query.by == "mode"

    @property
    def has_cells(self) -> bool:
        return any(table.rows and table.columns for table in self.tables)


@dataclass(frozen=True)
class FilledMatrix:
    """What was read for a page: the same for the page and its CSV."""

    query: MatrixQuery
    tables: list[MatrixTable]
    tests: list[SeriesTest]
    test: SeriesTest | None
    metrics: list[str]
    metric: Metric
    compared: ComparedMatrix


def filled_matrix(query: MatrixQuery) -> FilledMatrix:
    """Read a matrix as asked for; eight queries, and one more to compare it."""
    endpoints = grid_endpoints(environments=query.environment_ids, text=query.text)
    axes = [_axes(query, endpoints, environment) for environment in query.environments]
    pairs = visible_pairs(axes, query.by)
    tests = measured_tests(_sample(pairs, _PAIRS_ASKED_FOR_TESTS))
    test = chosen_test(query.parameters, tests)
    metrics = metrics_of_test(_sample(pairs, _PAIRS_ASKED_FOR_METRICS), test) if test else []
    metric = _metric(query.parameters.get("metric", ""), test)
    tables = matrix_tables(axes, pairs, test=test, metric=metric.key, until=query.until)
    compared = compared_matrix(query, tables, pairs, test=test, metric=metric)
    return FilledMatrix(query, tables, tests, test, metrics, metric, compared)


def matrix_view(filled: FilledMatrix) -> MatrixView:
    """Prepare a matrix for its page. No query."""
    query, metric = filled.query, filled.metric
    equivalent = equivalent_named(metric, query.parameters.get("as", ""))
    bounds = value_range(filled.tables)
    settings = settings_of(filled.test, filled.tests) if filled.test else {}
    cells = [cell for table in filled.tables for line in table.cells for cell in line]
    maker = CellMaker(query, filled.tables, filled.test, metric, equivalent, bounds, settings, filled.compared)
    tables = [
        _table(maker, table, environment) for table, environment in zip(filled.tables, query.environments, strict=True)
    ]
    return MatrixView(
        query=query,
        tables=tables,
        test=filled.test,
        settings=settings,
        metric=metric,
        equivalent=equivalent,
        bounds=(_written(bounds[0], metric, equivalent), _written(bounds[1], metric, equivalent)) if bounds else None,
        levels=range(SEQUENTIAL_LEVELS),
        has_baseline=query.baseline is not None,
        is_baseline_visible=any(_has_base(table) for table in tables),
        clear_href=query.url(base_environment=None, base_row=None, base_column=None),
        current_href=_explicit(query),
        until=str(query.parameters["until"]) if query.until else "",
        carried=[(name, str(value)) for name, value in query.parameters.items() if name not in ("r", "c")],
        oldest=min((cell.oldest_at for cell in cells if cell.oldest_at), default=None),
        newest=max((cell.at for cell in cells if cell.at), default=None),
        is_compared=filled.compared.verdicts is not None,
    )


def _explicit(query: MatrixQuery) -> str:
    """Return the matrix's address with its environment: whoever opens it need not have chosen the same before."""
    first = str(query.environments[0].pk) if query.environments else ""
    return query.url() if query.parameters.get("environment", "") == first else query.url(environment=first)


def _axes(query: MatrixQuery, endpoints: Sequence[GridEndpoint], environment: MatrixEnvironment) -> Axes:
    return axes_of(
        endpoints,
        environment=environment.pk,
        by=query.by,
        first_row=query.first_row,
        first_column=query.first_column,
    )


def _sample(pairs: Sequence[GridPair], most: int) -> list[int]:
    by_environment: dict[int, list[int]] = {}
    for pair in pairs:
        by_environment.setdefault(pair.environment, []).append(pair.id)
    return [pk for ids in by_environment.values() for pk in ids[:: max(1, len(ids) // most)][:most]]


def _metric(key: str, test: SeriesTest | None) -> Metric:
    """Return the metric asked for if the test has it, else its kind's headline."""
    kinds = catalog().kinds
    kind = kinds[test.kind] if test else next(iter(kinds.values()))
    return kind.metrics.get(key, kind.metrics[kind.headline])


def settings_of(test: SeriesTest, tests: Sequence[SeriesTest]) -> dict[str, Any]:
    """Return the parameters by which the tests of a kind differ, with this test's values, defaults included."""
    names = sorted({name for each in tests if each.kind == test.kind for name in each.identity})
    known = catalog().kinds[test.kind].series_parameters
    return {name: test.identity.get(name, known[name].default) for name in names}


def _table(maker: CellMaker, table: MatrixTable, environment: MatrixEnvironment) -> ShownTable:
    axes, query = table.axes, maker.query
    is_part = len(axes.rows) > WINDOW or len(axes.columns) > WINDOW
    is_too_large = max(len(axes.rows), len(axes.columns)) > MOST_ITEMS
    side = square_pixels(len(axes.rows), len(axes.columns)) if is_part and not is_too_large else 0
    base = query.baseline
    return ShownTable(
        environment=environment,
        columns=axes.visible_columns,
        rows=[_row(maker, table, item, cells) for item, cells in zip(axes.visible_rows, table.cells, strict=True)],
        row_span=_span(query, "r", axes.first_row, len(axes.rows)),
        column_span=_span(query, "c", axes.first_column, len(axes.columns)),
        base_href=query.url(base_environment=environment.pk, base_row=None, base_column=None),
        is_base=base is not None and base.environment == environment.pk and base.row is None and base.column is None,
        words=table_words(maker.compared, table),
        picture_url=query.url(picture=environment.pk, r=None, c=None) if side else "",
        picture_width=side * len(axes.columns),
        picture_height=side * len(axes.rows),
        is_too_large=is_part and is_too_large,
    )


def _row(maker: CellMaker, table: MatrixTable, item: AxisItem, cells: Sequence[Cell]) -> MatrixRow:
    base = maker.query.baseline
    return MatrixRow(
        item=item,
        cells=[maker.displayed(table, cell) for cell in cells],
        base_href=maker.query.url(base_environment=None, base_row=item.key, base_column=None),
        is_base=base is not None and base.row == item.key and base.column is None,
    )


def _span(query: MatrixQuery, name: str, first: int, total: int) -> AxisSpan:
    return AxisSpan(
        first=first + 1,
        last=min(total, first + WINDOW),
        total=total,
        before=query.url(**{name: max(0, first - WINDOW) or None}) if first else "",
        behind=query.url(**{name: first + WINDOW}) if first + WINDOW < total else "",
    )


def _written(value: float, metric: Metric, equivalent: Equivalent | None) -> Quantity:
    written = quantity(value, metric.unit)
    if equivalent is None:
        return written
    return Quantity(plain(equivalent.of(value), equivalent.decimals), equivalent.unit, written.full)


def _has_base(table: ShownTable) -> bool:
    return any(cell.is_base for row in table.rows for cell in row.cells)
