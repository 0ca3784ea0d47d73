"""The changes of a series over time: confirmed ones, suspects, and what could be seen at all. Pure; knows no rooms."""

from benchweb.statistics.changes.change import LEAST_RATIO, LEAST_RUNS, WINDOW, Change
from benchweb.statistics.changes.detectable import repetitions_to_halve, smallest_detectable_change
from benchweb.statistics.changes.find import find_changes
from benchweb.statistics.changes.suspicion import is_suspect

__all__ = [
    "LEAST_RATIO",
    "LEAST_RUNS",
    "WINDOW",
    "Change",
    "find_changes",
    "is_suspect",
    "repetitions_to_halve",
    "smallest_detectable_change",
]
