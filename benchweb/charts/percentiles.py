"""Names of percentiles on an axis, from the keys of their metrics."""

import re
from collections.abc import Sequence

_DIGITS = re.compile(r"p(\d\d)(\d+)")


def percentile_names(metrics: Sequence[str]) -> dict[str, str]:
    """Name each metric by what sets it apart: latency_p999_seconds is p99.9 among its like."""
    parts = [metric.split("_") for metric in metrics]
    before, after = _common(parts), _common([words[::-1] for words in parts])
    return {
        metric: _DIGITS.sub(r"p\1.\2", "_".join(words[before : len(words) - after]))
        for metric, words in zip(metrics, parts, strict=True)
    }


def _common(lists: list[list[str]]) -> int:
    # A word must be left to each, so the shortest list bounds what may be common.
    shortest = min(len(words) for words in lists) - 1
    return next((index for index in range(shortest) if len({words[index] for words in lists}) > 1), shortest)
