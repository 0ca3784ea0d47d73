"""The sentence that the overview begins with: is it worse than yesterday?"""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from benchweb.hosts.selectors import HostCounts
from benchweb.regressions.overview import AlertsNow


@dataclass(frozen=True)
class NightHeadline:
    """The counts of the last day: alerts new, ongoing and recovered, runs incomplete, hosts healthy."""

    new: int
    ongoing: int
    recovered: int
    runs: int
    incomplete: int
    healthy: int
    hosts: int

    @property
    def tone(self) -> str:
        """Return how it is said: bad, warn where something is missing, or calm."""
        if self.new:
            return "bad"
        return "warn" if self.ongoing or self.incomplete or self.healthy < self.hosts else "calm"

    @property
    def verdict(self) -> str:
        if self.new:
            return _("Worse than yesterday")
        if self.recovered:
            return _("Better than yesterday")
        if self.ongoing:
            return _("As yesterday")
        return _("All quiet") if self.tone == "calm" and self.runs else _("No new regressions")


def headline(alerts: AlertsNow, hosts: HostCounts, *, runs: int, faulty: int) -> NightHeadline:
    """Sum up the last day; `runs` ended in it, `faulty` of them without a whole result."""
    return NightHeadline(
        new=alerts.new_count,
        ongoing=alerts.ongoing_count,
        recovered=alerts.recovered_count,
        runs=runs,
        incomplete=faulty,
        healthy=hosts.healthy,
        hosts=hosts.all,
    )
