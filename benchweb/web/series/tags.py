"""A template tag for the pairs of an environment: a square each, coloured by its verdict."""

from django import template
from django.utils.safestring import SafeString

from benchweb.charts.matrix.mesh import MeshCell, VerdictMesh
from benchweb.charts.matrix.verdicts import numbers_text

register = template.Library()

_LARGEST_SQUARE, _LEAST_SQUARE = 20, 3
_BETWEEN = 1


@register.simple_tag
def mesh_svg(mesh: VerdictMesh, most_pixels: int) -> SafeString:
    """Draw a mesh at most so high: rows are sources, columns sinks; what has no pair stays empty."""
    pitch = max(_LEAST_SQUARE, min(_LARGEST_SQUARE, most_pixels // max(mesh.rows, mesh.columns, 1)))
    paths: dict[str, list[str]] = {}
    for cell in mesh.cells:
        paths.setdefault(cell.word, []).append(_square(cell, pitch))
    drawn = "".join(f'<path class="mesh-{word}" d="{"".join(squares)}"/>' for word, squares in sorted(paths.items()))
    width, height = mesh.columns * pitch, mesh.rows * pitch
    return SafeString(
        f'<svg class="mesh" aria-hidden="true" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{drawn}</svg>'
    )


@register.simple_tag
def mesh_words(mesh: VerdictMesh) -> str:
    """Say how many pairs have which verdict."""
    return numbers_text(mesh.counts)


def _square(cell: MeshCell, pitch: int) -> str:
    side = pitch - _BETWEEN
    left, top = cell.column * pitch, cell.row * pitch
    square = f"M{left} {top}h{side}v{side}h-{side}z"
    # What is missing is crossed out: no colour says it.
    return f"{square}M{left} {top}l{side} {side}" if cell.word == "missing" else square
