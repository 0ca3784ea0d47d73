"""Read the slow changes that a look found, and say them in the reader's language."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from django.db.models import Count, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import catalog
from benchweb.common.formatting import signed_percent
from benchweb.documents.references import Label, endpoint_ref, environment_ref, host_ref, pair_ref, worded
from benchweb.hosts.models import Environment
from benchweb.regressions.alert_texts import figure_name, levels_text
from benchweb.regressions.models import SlowChange, SlowChangeSeries
from benchweb.statistics.deciding import SLOW_NIGHTS

# Of one night; each is of one cause.
MOST_CHANGES = 500
# Lines of one chart.
_MOST_TOGETHER = 8
_MOST_PARTS = MOST_CHANGES * _MOST_TOGETHER


@dataclass(frozen=True)
class SlowLine:
    """A slow change with the series that name it, and how many it has."""

    change: SlowChange
    # The first of them, as they are shown together.
    parts: Sequence[SlowChangeSeries]
    series_count: int

    @property
    def named(self) -> SlowChangeSeries:
        return self.parts[0]

    @property
    def environment(self) -> Environment:
        return self.change.look.environment

    @property
    def unit(self) -> str:
        metric = catalog().metrics.get(self.named.series.metric)
        return metric.unit if metric else ""

    @property
    def title(self) -> Label:
        """Say where, which figure, and from which level to which."""
        series = self.named.series
        levels = levels_text(self.named.before, self.named.after, self.unit)
        return self._place + f": {figure_name(series.kind, series.metric)} {levels}"

    @property
    def _place(self) -> Label:
        place = self._host_or_pair
        if self.series_count == 1:
            return place
        sentence = ngettext("{count} series of {place}", "{count} series of {place}", self.series_count)
        return worded(sentence, count=f"{self.series_count:,}", place=place)

    @property
    def _host_or_pair(self) -> Label:
        pair, host, count = self.change.pair, self.change.host, self.change.pair_count
        if pair is not None:
            both = Label(endpoint_ref(pair.source), " ↔ ", endpoint_ref(pair.sink))
            return both if count > 1 else pair_ref(pair)
        if host is not None:
            return host_ref(host.pk, host.name)
        pairs = ngettext("{count:,} pair", "{count:,} pairs", count).format(count=count)
        return Label(pairs, " (", environment_ref(self.environment.name), ")")

    @property
    def details(self) -> str:
        """Say by how much, at once or bit by bit, since when, and by how many nights that is known."""
        sentence = _("drifting since about {date}") if self.named.is_drift else _("a step around {date}")
        text = sentence.format(date=self.named.since.isoformat())
        nights = ngettext("{count} night", "{count} nights", self.named.nights).format(count=self.named.nights)
        return " · ".join(part for part in (self.difference, text, nights) if part)

    @property
    def difference(self) -> str:
        """Say the difference with its interval; nothing where the level was 0."""
        ratio, low, high = self.named.difference_ratio, self.named.interval_low_ratio, self.named.interval_high_ratio
        if ratio is None or low is None or high is None:
            return ""
        sentence = _("{ratio} (95 % interval {low} to {high})")
        return sentence.format(ratio=signed_percent(ratio), low=signed_percent(low), high=signed_percent(high))

    @property
    def history_query(self) -> str:
        """Return what the history is asked for, to show all nights looked at of the series of one measure."""
        named = self.named.series
        same = [part for part in self.parts if (part.series.kind, part.series.metric) == (named.kind, named.metric)]
        return f"series={','.join(str(part.series_id) for part in same)}&over={SLOW_NIGHTS}d"


def slow_lines_of_night(night: date, environments: Collection[int] | None = None) -> list[SlowLine]:
    """Return what a night's looks found, in these environments or in all but samples, most series first; one query."""
    changes = SlowChange.objects.filter(look__night=night)
    is_its = Q(look__environment__is_synthetic=False) if environments is None else Q(look__environment__in=environments)
    changes = changes.filter(is_its)
    return slow_lines(changes)


def slow_lines(changes: "QuerySet[SlowChange, SlowChange]") -> list[SlowLine]:
    """Return slow changes with what names them, most series first; one query."""
    ends = ("look__environment", "host", "pair__source__host", "pair__sink__host")
    numbered = SlowChangeSeries.objects.select_related("series", *(f"change__{end}" for end in ends)).annotate(
        place=Window(RowNumber(), partition_by="change", order_by="pk"),
        series_count=Window(Count("pk"), partition_by="change"),
    )
    listed = numbered.filter(change__in=changes, place__lte=_MOST_TOGETHER).order_by("-series_count", "change", "pk")
    lines = [list(parts) for _change, parts in groupby(listed[:_MOST_PARTS], key=lambda part: part.change_id)]
    return [SlowLine(parts[0].change, parts, parts[0].series_count) for parts in lines[:MOST_CHANGES]]
