"""A matrix's cells and differences, with values worked out by hand; and the picture of the whole."""

import struct
import zlib

import pytest

from benchweb.catalog import catalog
from benchweb.charts.matrix.difference import (
    CellDifference,
    MatrixBaseline,
    baseline_cell,
    difference,
    sequential_level,
)
from benchweb.charts.matrix.figures import Axes, AxisItem, Cell, MatrixTable, axes_of, color_range
from benchweb.charts.matrix.picture import matrix_picture, square_pixels
from benchweb.hosts.grid import GridEndpoint
from benchweb.statistics import summary

METRICS = catalog().metrics


def compared(values: list[float], base: list[float], metric: str = "throughput_bps") -> CellDifference:
    found, other = summary(values), summary(base)
    assert found and other
    return difference(found, other, METRICS[metric])


@pytest.mark.parametrize(
    ("values", "base", "metric", "told"),
    [
        ([12.0, 12.5, 13.0], [10.0, 10.0, 10.5], "throughput_bps", (0.25, True, "better", 3)),
        ([12.0, 12.5, 13.0], [10.0, 10.0, 10.5], "latency_mean_seconds", (0.25, True, "worse", 3)),
        ([10.4, 10.4], [10.0, 10.0], "throughput_bps", (pytest.approx(0.04), True, "better", 1)),
        ([5.0, 5.0], [10.0, 10.0], "throughput_bps", (-0.5, True, "worse", 4)),
        # The ranges touch: these repetitions can't tell.
        ([9.0, 11.0], [10.0, 12.0], "throughput_bps", (pytest.approx(-1 / 11), False, "worse", 0)),
        # One repetition has no range.
        ([20.0], [10.0, 10.0], "throughput_bps", (1.0, False, "better", 0)),
        ([0.1, 0.1], [0.0, 0.0], "loss_ratio", (None, True, "worse", 4)),
        ([12.0, 12.0], [10.0, 10.0], "sent_packets", (0.2, True, "higher", 3)),
        ([10.0, 10.0], [10.0, 10.0], "throughput_bps", (0.0, False, "same", 0)),
    ],
)
def test_a_difference_knows_its_direction_and_the_noise(
    values: list[float], base: list[float], metric: str, told: tuple[object, bool, str, int]
) -> None:
    found = compared(values, base, metric)
    assert (found.ratio, found.is_distinct, found.sense, found.level) == told


def test_the_sequential_scale_has_nine_steps_and_its_middle_for_a_single_value() -> None:
    assert [sequential_level(value, (0.0, 9.0)) for value in (0.0, 0.9, 1.0, 8.9, 9.0)] == [0, 0, 1, 8, 8]
    assert sequential_level(5.0, (5.0, 5.0)) == 4


def test_values_that_hardly_differ_do_not_get_the_extreme_colours() -> None:
    near = color_range([98.0, 100.0])
    assert near == pytest.approx((86.5, 111.5))
    assert near is not None
    assert [sequential_level(value, near) for value in (98.0, 100.0)] == [4, 4]
    assert color_range([50.0, 100.0]) == (50.0, 100.0)
    assert (color_range([0.0, 0.0]), color_range([])) == ((0.0, 0.0), None)


def table(environment: int, modes: str = "ht") -> MatrixTable:
    items = [AxisItem(mode, mode) for mode in modes]
    axes = Axes(environment, items, items)
    return MatrixTable(axes, [[Cell("empty", row, column) for column in modes] for row in modes])


def test_a_row_a_cell_or_another_environment_is_the_baseline() -> None:
    same, cross = table(1), table(2)
    tables, cell = [same, cross], cross.cells_by_key["t", "h"]
    assert baseline_cell(tables, MatrixBaseline(row="h"), cross, cell) is cross.cells_by_key["h", "h"]
    assert baseline_cell(tables, MatrixBaseline(environment=1), cross, cell) is same.cells_by_key["t", "h"]
    assert baseline_cell(tables, MatrixBaseline(1, "h", "t"), cross, cell) is same.cells_by_key["h", "t"]
    assert baseline_cell(tables, MatrixBaseline(row="t"), cross, cell) is None
    assert baseline_cell(tables, MatrixBaseline(environment=3), cross, cell) is None


def endpoint(number: int, mode: str = "host", **ends: bool) -> GridEndpoint:
    ends = {"is_source": True, "is_sink": True} | ends
    return GridEndpoint(1, number, f"host-{number}", f"host-{number}", mode, number + 100, **ends)


def test_sources_are_rows_and_sinks_columns_and_the_host_itself_is_the_first_mode() -> None:
    here = [endpoint(1, "terway", is_sink=False), endpoint(2), endpoint(3, "eni", is_source=False)]
    by_host = axes_of(here, environment=1, by="host")
    assert [(item.key, item.label, item.detail) for item in by_host.rows] == [
        (1, "host-1", "terway"),
        (2, "host-2", ""),
    ]
    assert [item.key for item in by_host.columns] == [2, 3]
    by_mode = axes_of(here, environment=1, by="mode")
    assert [item.key for item in by_mode.rows] == ["host", "terway"]
    assert [item.key for item in by_mode.columns] == ["host", "eni"]


def test_a_window_shows_twelve_and_a_start_beyond_the_end_is_the_first() -> None:
    hosts = [endpoint(number) for number in range(40)]
    axes = axes_of(hosts, environment=1, by="host", first_row=32, first_column=99)
    assert ([item.key for item in axes.visible_rows], axes.first_column) == (list(range(32, 40)), 0)
    assert len(axes.visible_columns) == 12


def test_the_picture_has_a_pixel_a_pair_and_nothing_where_nothing_is_known() -> None:
    picture = matrix_picture([7, 8], [7, 8, 9], [(7, 8, 1.0), (8, 9, 10.0), (99, 7, 5.0)])
    assert struct.unpack(">II", picture[16:24]) == (3, 2)
    start = picture.index(b"IDAT") + 4
    pixels = zlib.decompressobj().decompress(picture[start:])
    assert pixels == bytes([0, 9, 0, 9, 0, 9, 9, 8])


def test_a_square_is_as_large_as_the_page_has_room_for() -> None:
    assert [square_pixels(count, 10) for count in (10, 100, 200, 1000)] == [16, 8, 4, 1]
