"""Source × sink: what each pair gave last in one test, by endpoint or by network mode. Rows are sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from statistics import fmean, median
from typing import Literal

from benchweb.hosts.grid import GridEndpoint, GridPair, grid_pairs, grid_pairs_by_mode
from benchweb.results.latest_medians import HISTORY_RUNS, EndedRun, Newest, SeriesTest, ended_runs, newest_values
from benchweb.runs.models import State
from benchweb.statistics import Summary, summary

# Of the greater end: a scale that is narrower would paint what hardly differs in the extreme colours.
_LEAST_RANGE = 0.25

By = Literal["host", "mode"]
Key = int | str
# As many cells with all their figures as a screen is wide; further hosts are reached by moving over the whole.
WINDOW = 12
# A cell of a mode matrix is the median of so many pairs at most.
MOST_PAIRS_A_CELL = 40
CellState = Literal["value", "failed", "empty", "unconfigured", "itself"]


@dataclass(frozen=True)
class AxisItem:
    """A row or a column: an endpoint's id, or a network mode."""

    key: Key
    label: str
    detail: str = ""
    host: int | None = None


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class Cell:
    """One place: `summary` is of the last runs of its pairs, `history` their medians, oldest first, None a gap.

    Pairs whose newest run failed join it only where all did: then `state` says so, and `summary` is what was before.
    """

    state: CellState
    row: Key
    column: Key
    pairs: list[int] = field(default_factory=list)
    summary: Summary | None = None
    mean: float | None = None
    # When the newest and the oldest of the pairs' values were measured.
    at: datetime | None = None
    oldest_at: datetime | None = None
    runs: list[int] = field(default_factory=list)
    history: list[float | None] = field(default_factory=list)
    # The newest runs of its pairs that gave nothing.
    failures: list[EndedRun] = field(default_factory=list)
    # By pair what it was made of.
    newest: dict[int, Newest] = field(default_factory=dict)


@dataclass(frozen=True)
class Axes:
    """What stands on the axes of one environment's table, and which part of it is shown."""

    environment: int
    rows: list[AxisItem]
    columns: list[AxisItem]
    first_row: int = 0
    first_column: int = 0

    @property
    def visible_rows(self) -> list[AxisItem]:
        return self.rows[self.first_row : self.first_row + WINDOW]

    @property
    def visible_columns(self) -> list[AxisItem]:
        return self.columns[self.first_column : self.first_column + WINDOW]


@dataclass(frozen=True)
class MatrixTable:
    """One environment's cells, row by row."""

    axes: Axes
    cells: list[list[Cell]]

    @cached_property
    def cells_by_key(self) -> dict[tuple[Key, Key], Cell]:
        """Return the shown cells by row and column."""
        return {(cell.row, cell.column): cell for line in self.cells for cell in line}


def axes_of(
    endpoints: Iterable[GridEndpoint], *, environment: int, by: By, first_row: int = 0, first_column: int = 0
) -> Axes:
    """Put an environment's endpoints, or their network modes, on the axes; a start beyond the end is the first."""
    here = [endpoint for endpoint in endpoints if endpoint.environment == environment]
    rows = _items([each for each in here if each.is_source], by)
    columns = _items([each for each in here if each.is_sink], by)
    return Axes(environment, rows, columns, _start(first_row, rows), _start(first_column, columns))


def visible_pairs(axes: Sequence[Axes], by: By) -> list[GridPair]:
    """Return the pairs of the shown cells of all tables; one query."""
    environments = [table.environment for table in axes]
    if by == "mode":
        cells = [
            (table.environment, str(row.key), str(column.key))
            for table in axes
            for row in table.visible_rows
            for column in table.visible_columns
        ]
        return grid_pairs_by_mode(cells=cells, most=MOST_PAIRS_A_CELL) if cells else []
    sources = {int(row.key) for table in axes for row in table.visible_rows}
    sinks = {int(column.key) for table in axes for column in table.visible_columns}
    return grid_pairs(environments=environments, sources=list(sources), sinks=list(sinks))


def matrix_tables(
    axes: Sequence[Axes],
    pairs: Sequence[GridPair],
    *,
    test: SeriesTest | None,
    metric: str,
    until: datetime | None = None,
) -> list[MatrixTable]:
    """Fill the tables; three queries, whatever their size. Without a test every pair is without data."""
    ids = [pair.id for pair in pairs]
    newest = newest_values(pairs=ids, test=test, metric=metric, until=until) if test and ids else {}
    ended = ended_runs(pairs=ids, test=test, until=until) if test and ids else {}
    pair_ids: dict[tuple[int, Key, Key], list[int]] = {}
    for pair in pairs:
        pair_ids.setdefault((pair.environment, pair.source, pair.sink), []).append(pair.id)
    return [
        MatrixTable(
            each,
            [
                [
                    _cell(
                        row.key,
                        column.key,
                        pair_ids.get((each.environment, row.key, column.key), []),
                        newest,
                        ended,
                    )
                    for column in each.visible_columns
                ]
                for row in each.visible_rows
            ],
        )
        for each in axes
    ]


def value_range(tables: Iterable[MatrixTable]) -> tuple[float, float] | None:
    """Return the ends of the colours for the medians of all shown cells: one scale for all tables."""
    return color_range(
        [cell.summary.median for table in tables for line in table.cells for cell in line if cell.summary]
    )


def color_range(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the least and the greatest value, moved apart where they are so near that colours would show noise."""
    if not values:
        return None
    low, high = min(values), max(values)
    missing = max(0.0, _LEAST_RANGE * max(abs(low), abs(high)) - (high - low))
    return low - missing / 2, high + missing / 2


def _items(endpoints: list[GridEndpoint], by: By) -> list[AxisItem]:
    if by == "mode":
        modes = dict.fromkeys(sorted((endpoint.network_mode for endpoint in endpoints), key=_mode_order))
        return [AxisItem(mode, mode) for mode in modes]
    return [AxisItem(endpoint.id, endpoint.host, _detail(endpoint), endpoint.host_id) for endpoint in endpoints]


def _mode_order(mode: str) -> tuple[bool, str]:
    """Put the host itself first: what containers cost is told beside it."""
    return mode != "host", mode


def _detail(endpoint: GridEndpoint) -> str:
    name = endpoint.name if endpoint.name != endpoint.host else ""
    mode = endpoint.network_mode if endpoint.network_mode not in ("host", name) else ""
    return " · ".join(part for part in (name, mode) if part)


def _start(first: int, items: Sequence[AxisItem]) -> int:
    return first if 0 < first < len(items) else 0


def _cell(row: Key, column: Key, pairs: list[int], newest: dict[int, Newest], ended: dict[int, list[EndedRun]]) -> Cell:
    if not pairs:
        is_itself = row == column and isinstance(row, int)
        return Cell("itself" if is_itself else "unconfigured", row, column)
    failed = {pair: end for pair in pairs if (end := _failure(newest.get(pair), ended.get(pair, [])))}
    counted = [pair for pair in pairs if pair not in failed] or pairs
    of_pairs = {pair: latest for pair in counted if (latest := newest.get(pair))}
    given = list(of_pairs.values())
    values = [value for latest in given for value in latest.runs[0].values]
    failures = list(failed.values())
    return Cell(
        state=_state(len(pairs), bool(values), len(failures)),
        row=row,
        column=column,
        pairs=pairs,
        summary=summary(values),
        mean=fmean(values) if values else None,
        at=max((latest.at for latest in given), default=None),
        oldest_at=min((latest.at for latest in given), default=None),
        runs=[latest.runs[0].run for latest in given],
        history=_history([_course(newest.get(pair), ended.get(pair, [])) for pair in pairs]),
        failures=failures,
        newest=of_pairs,
    )


def _state(pairs: int, has_values: bool, failed: int) -> CellState:
    if failed == pairs:
        return "failed"
    return "value" if has_values else "failed" if failed else "empty"


def _failure(newest: Newest | None, ended: list[EndedRun]) -> EndedRun | None:
    """Return the pair's newest run of the test if it came after the last that gave a value, and didn't finish."""
    if not ended or ended[0].state == State.FINISHED:
        return None
    return ended[0] if newest is None or ended[0].id > newest.runs[0].run else None


def _course(newest: Newest | None, ended: list[EndedRun]) -> list[list[float]]:
    """Return the repetitions of a pair's last runs, newest first; a run of the test that gave none is a gap."""
    values: dict[int, list[float]] = {run.run: list(run.values) for run in newest.runs} if newest else {}
    oldest = min(values, default=0)
    for run in ended:
        if run.id > oldest:
            values.setdefault(run.id, [])
    return [values[run] for run in sorted(values, reverse=True)[:HISTORY_RUNS]]


def _history(courses: list[list[list[float]]]) -> list[float | None]:
    """Return the medians of the pairs' k-th last runs, oldest first, as a cell's figure is: over all repetitions.

    As far back as every pair has runs: a median of other pairs would move for that alone.
    """
    length = min(map(len, courses), default=0)
    steps = [[value for course in courses for value in course[index]] for index in range(length)]
    return [median(step) if step else None for step in steps][::-1]
