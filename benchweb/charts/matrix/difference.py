"""A matrix beside its baseline: each cell against a row, a cell, or the same cell of another environment. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchweb.catalog import Metric
from benchweb.charts.matrix.figures import Cell, Key, MatrixTable
from benchweb.statistics import Summary

# Where a difference gets its next darker colour, as a share of the baseline.
DIFFERENCE_STEPS = (0.05, 0.15, 0.40)
SEQUENTIAL_LEVELS = 9
Sense = Literal["better", "worse", "higher", "lower", "same"]


@dataclass(frozen=True)
class MatrixBaseline:
    """What cells are compared with; None is open: a row alone means the same column of that row, and so on."""

    environment: int | None = None
    row: Key | None = None
    column: Key | None = None


@dataclass(frozen=True)
class CellDifference:
    """A cell's median less its baseline's; `ratio` is None for a baseline of 0.

    `is_distinct` is false where the repetitions can't tell the two apart: their ranges overlap, or one has a single
    value. That is no test of significance, only the band in which a colour would mislead; the comparison page tests.
    """

    absolute: float
    ratio: float | None
    is_distinct: bool
    sense: Sense
    level: int


def baseline_cell(tables: Sequence[MatrixTable], baseline: MatrixBaseline, own: MatrixTable, cell: Cell) -> Cell | None:
    """Return the cell that a cell of the table `own` is compared with; None for none or itself."""
    table = next((each for each in tables if each.axes.environment == baseline.environment), None)
    if baseline.environment is None:
        table = own
    if table is None:
        return None
    row = cell.row if baseline.row is None else baseline.row
    column = cell.column if baseline.column is None else baseline.column
    base = table.cells_by_key.get((row, column))
    return None if base is cell else base


def difference(summary: Summary, base: Summary, metric: Metric) -> CellDifference:
    """Compare two summaries in the metric's own direction."""
    absolute = summary.median - base.median
    ratio = absolute / abs(base.median) if base.median else None
    is_distinct = min(summary.n, base.n) > 1 and (summary.low > base.high or summary.high < base.low)
    return CellDifference(
        absolute, ratio, is_distinct, _sense(absolute, metric), change_level(ratio) if is_distinct else 0
    )


def sequential_level(value: float, bounds: tuple[float, float]) -> int:
    """Return the place of a value on the scale of SEQUENTIAL_LEVELS colours; the middle when all values are one."""
    low, high = bounds
    if high == low:
        return SEQUENTIAL_LEVELS // 2
    return min(SEQUENTIAL_LEVELS - 1, int((value - low) / (high - low) * SEQUENTIAL_LEVELS))


def _sense(absolute: float, metric: Metric) -> Sense:
    if absolute == 0:
        return "same"
    if metric.better == "neutral":
        return "higher" if absolute > 0 else "lower"
    return "better" if (absolute > 0) == (metric.better == "higher") else "worse"


def change_level(ratio: float | None) -> int:
    """Return 1 to 4 by the size of a change; a difference from 0 has no ratio and the strongest colour."""
    if ratio is None:
        return len(DIFFERENCE_STEPS) + 1
    return 1 + sum(abs(ratio) >= step for step in DIFFERENCE_STEPS)
