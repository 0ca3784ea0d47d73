"""Pure functions on numbers: one place for charts, comparisons and regressions. No ORM."""

from benchweb.statistics.summary import Summary, half_range_ratio, summary

__all__ = ["Summary", "half_range_ratio", "summary"]
