"""Pure functions on numbers: one place for charts, comparisons and regressions. No ORM."""

from benchweb.statistics.comparison import Difference, Verdict, difference, verdicts
from benchweb.statistics.confidence import MeanInterval, mean_interval
from benchweb.statistics.summary import Summary, half_range_ratio, summary

__all__ = [
    "Difference",
    "MeanInterval",
    "Summary",
    "Verdict",
    "difference",
    "half_range_ratio",
    "mean_interval",
    "summary",
    "verdicts",
]
