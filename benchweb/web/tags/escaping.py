"""Escape once what one page after the other says, such as names and units."""

from functools import lru_cache
from html import escape

escaped = lru_cache(maxsize=4_096)(escape)
