"""The changes of a series over time: confirmed ones, suspects, and what could be seen at all. Pure; knows no rooms."""

from benchweb.statistics.changes.beside import find_changes_beside
from benchweb.statistics.changes.change import Change, ModeShares
from benchweb.statistics.changes.covariates import ExplainedSeries, explained_series
from benchweb.statistics.changes.detectable import repetitions_to_halve, smallest_detectable_change
from benchweb.statistics.changes.drift import is_one_drift
from benchweb.statistics.changes.find import find_changes
from benchweb.statistics.changes.slow import slow_change
from benchweb.statistics.changes.suspicion import suspicion

__all__ = [
    "Change",
    "ExplainedSeries",
    "ModeShares",
    "explained_series",
    "find_changes",
    "find_changes_beside",
    "is_one_drift",
    "repetitions_to_halve",
    "slow_change",
    "smallest_detectable_change",
    "suspicion",
]
