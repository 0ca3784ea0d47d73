"""A whole matrix as a small picture, one square a pair: where to look among tens of thousands. Pure."""

import struct
import zlib
from collections.abc import Iterable

from benchweb.charts.matrix.difference import SEQUENTIAL_LEVELS, sequential_level
from benchweb.charts.matrix.figures import color_range

# The same colours as the cells' (frontend/styles/pages/_matrix.scss): one sequential scale, light to dark.
PALETTE = ("ffffd9", "edf8b1", "c7e9b4", "9ad8ba", "5fc0c1", "2876a6", "225ea8", "253494", "081d58")
_NOTHING = len(PALETTE)
_PICTURE_PIXELS = 800
_MOST_SQUARE_PIXELS = 16
# Beyond this a square is less than four pixels: the page asks for part of a name instead.
MOST_ITEMS = 250


def square_pixels(rows: int, columns: int) -> int:
    """Return the side of a pair's square, for a picture that a page has room for."""
    return max(1, min(_MOST_SQUARE_PIXELS, _PICTURE_PIXELS // max(rows, columns, 1)))


def matrix_picture(rows: list[int], columns: list[int], values: Iterable[tuple[int, int, float]]) -> bytes:
    """Draw values at (row, column) keys as a PNG of a pixel a pair; what has no value is transparent."""
    row_places = {key: index for index, key in enumerate(rows)}
    column_places = {key: index for index, key in enumerate(columns)}
    known = [
        (row_places[row], column_places[column], value)
        for row, column, value in values
        if row in row_places and column in column_places
    ]
    bounds = color_range([value for _, _, value in known]) or (0.0, 0.0)
    lines = [bytearray([_NOTHING]) * len(columns) for _ in rows]
    for row, column, value in known:
        lines[row][column] = sequential_level(value, bounds)
    return _png(len(columns), lines)


def _png(width: int, lines: list[bytearray]) -> bytes:
    """Write indexed colours by the PNG specification: 8 bits a pixel, the last colour transparent."""
    colors = b"".join(bytes.fromhex(color) for color in (*PALETTE, "000000"))
    header = struct.pack(">IIBBBBB", width, len(lines), 8, 3, 0, 0, 0)
    # Before each line the number of its filter: none.
    pixels = zlib.compress(b"".join(b"\0" + line for line in lines))
    parts = (
        (b"IHDR", header),
        (b"PLTE", colors),
        (b"tRNS", b"\xff" * SEQUENTIAL_LEVELS + b"\0"),
        (b"IDAT", pixels),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
