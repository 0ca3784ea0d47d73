"""Repeat until the interval of the mean is narrow: netperf's -I level,width and -i max,min for a plan."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog.reasons import Reason
from benchweb.plans.expansion import MAXIMUM_REPETITIONS, PlanError

# netperf's -i 30,3.
DEFAULT_MINIMUM_REPETITIONS = 3
DEFAULT_MAXIMUM_REPETITIONS = 30
LEVEL_PERCENT = (50.0, 99.99)
_MAXIMUM_WIDTH_PERCENT = 100.0


@dataclass(frozen=True)
class RequestedConfidence:
    """A combination is repeated until its headline metric's interval at the level is at most so wide, or to the max."""

    level_percent: float
    width_percent: float
    max_repetitions: int = DEFAULT_MAXIMUM_REPETITIONS

    @property
    def words(self) -> str:
        return Reason("confidence", level_percent=self.level_percent, width_percent=self.width_percent)


def validated_confidence(confidence: Mapping[str, Any] | None, repetitions: int) -> dict[str, Any] | None:
    """Check what a plan asks for, its defaults filled in; `repetitions` is the minimum then."""
    if confidence is None:
        return None
    requested = RequestedConfidence(**confidence)
    low, high = LEVEL_PERCENT
    if not low <= requested.level_percent <= high:
        raise PlanError(
            "confidence.level_percent",
            _("The confidence level must be from {low} to {high} %.").format(low=f"{low:g}", high=f"{high:g}"),
        )
    if not 0 < requested.width_percent <= _MAXIMUM_WIDTH_PERCENT:
        raise PlanError("confidence.width_percent", _("The interval's width must be over 0 and at most 100 %."))
    if repetitions < 2:
        raise PlanError("repetitions", _("A confidence needs at least 2 repetitions: one value has no interval."))
    if not repetitions <= requested.max_repetitions <= MAXIMUM_REPETITIONS:
        raise PlanError(
            "confidence.max_repetitions",
            _(
                "The most repetitions must be from {repetitions} (the plan's repetitions) to {maximum_repetitions}."
            ).format(repetitions=f"{repetitions:,}", maximum_repetitions=f"{MAXIMUM_REPETITIONS:,}"),
        )
    return asdict(requested)
