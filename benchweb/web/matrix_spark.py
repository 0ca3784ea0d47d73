"""A sparkline's path for SVG: the last runs of a cell, a gap where a run gave nothing."""

from collections.abc import Sequence

WIDTH, HEIGHT = 56, 14
_MARGIN = 2


def spark_path(values: Sequence[float | None]) -> str:
    """Draw the values evenly from left to right; empty for fewer than two, which are no course."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    step = (WIDTH - 2 * _MARGIN) / (len(values) - 1)
    parts, is_drawing = [], False
    for place, value in enumerate(values):
        if value is None:
            is_drawing = False
            continue
        share = (value - low) / (high - low) if high > low else 0.5
        x, y = _MARGIN + place * step, HEIGHT - _MARGIN - share * (HEIGHT - 2 * _MARGIN)
        # A run between two gaps is a dot: a line of no length with round ends.
        parts.append(f"L{x:.1f} {y:.1f}" if is_drawing else f"M{x:.1f} {y:.1f}h0")
        is_drawing = True
    return "".join(parts)
