"""What is found: one change of a series' level."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """A level that holds until `index` and another from there on; in the metric's unit unless named otherwise."""

    # Of the first value of the new segment, in the list that was given.
    index: int
    # Medians of the segments on both sides, within the window.
    before: float
    after: float
    # Of the medians, with its interval, as shares of `before`; None where that is 0.
    difference_ratio: float | None
    interval_low_ratio: float | None
    interval_high_ratio: float | None
    p: float
    # Whether the level went there bit by bit, from `index` on, rather than at once.
    is_drift: bool = False
    # Of a series with two modes, where the shares of these changed: then `before` and `after` are the levels that the
    # shares come to.
    mode_shares: "ModeShares | None" = None
    # Of a series beside covariates: which of these moved with it and accounts for it, by its index.
    moved_with: int | None = None


@dataclass(frozen=True)
class ModeShares:
    """Which share of the values was at the lower of two levels, before a change and after it."""

    before: float
    after: float
