"""Pure functions on numbers: one place for charts, comparisons and regressions. No ORM."""

from benchweb.statistics.comparison import Difference, Verdict, difference, verdicts
from benchweb.statistics.confidence import MeanInterval, mean_interval
from benchweb.statistics.deviation import Deviation, deviation
from benchweb.statistics.summary import Summary, summary

__all__ = [
    "Deviation",
    "Difference",
    "MeanInterval",
    "Summary",
    "Verdict",
    "deviation",
    "difference",
    "mean_interval",
    "summary",
    "verdicts",
]
