"""Charts as the text of JSON that scripts read."""

from collections.abc import Sequence

import orjson

from benchweb.charts.spec import ChartSpec


def charts_text(charts: Sequence[ChartSpec]) -> bytes:
    """Give the specs as a JSON array in UTF-8; orjson walks through dataclasses of thousands of points itself."""
    # Names that are translated late are said now.
    return orjson.dumps(charts, default=str, option=orjson.OPT_UTC_Z)
