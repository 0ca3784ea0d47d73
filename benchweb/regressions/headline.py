"""The sentence that the overview and digests begin with: is it worse than yesterday?"""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog.translation import sentence_space
from benchweb.hosts.selectors import HostCounts, host_counts
from benchweb.regressions.overview import AlertsNow, alerts_now
from benchweb.runs.outcomes import outcomes


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

    @property
    def sentence(self) -> str:
        """Say all of it, as the overview's template does with links; of hosts only where there are any."""
        numbers = {
            "new": ngettext("%(number)s new", "%(number)s new", self.new),
            "ongoing": ngettext("%(number)s ongoing", "%(number)s ongoing", self.ongoing),
            "recovered": ngettext("%(number)s recovered", "%(number)s recovered", self.recovered),
            "incomplete": ngettext("%(number)s run incomplete", "%(number)s runs incomplete", self.incomplete),
        }
        *alerts, runs = (text % {"number": f"{getattr(self, name):,}"} for name, text in numbers.items())
        healthy = ngettext(
            "%(healthy)s of %(total)s host healthy", "%(healthy)s of %(total)s hosts healthy", self.hosts
        )
        hosts = healthy % {"healthy": f"{self.healthy:,}", "total": f"{self.hosts:,}"}
        parts = [pgettext("between items of a list", ", ").join(alerts), runs, *([hosts] if self.hosts else [])]
        told = pgettext("between parts of a sentence", "; ").join(parts)
        colon, stop = pgettext("behind a verdict", ":"), pgettext("end of a sentence", ".")
        return f"{self.verdict}{colon}{sentence_space()}{told}{stop}"


def headline(alerts: AlertsNow, hosts: HostCounts, *, runs: int, faulty: int) -> NightHeadline:
    """Sum up the last day; `runs` ended in it, `faulty` of them without a whole result; nothing of a sample."""
    return NightHeadline(
        new=alerts.new_count - alerts.of_sample.new,
        ongoing=alerts.ongoing_count - alerts.of_sample.ongoing,
        recovered=alerts.recovered_count - alerts.of_sample.recovered,
        runs=runs,
        incomplete=faulty,
        healthy=hosts.healthy,
        hosts=hosts.all,
    )


def headline_since(since: datetime) -> NightHeadline:
    """Sum up the time since then for who sees no page; four queries."""
    ended = outcomes(since)
    return headline(
        alerts_now(since, most_new=1, most_ongoing=1),
        host_counts(),
        runs=sum(each.runs for each in ended if not each.is_sample),
        faulty=sum(each.without for each in ended if not each.is_sample),
    )
