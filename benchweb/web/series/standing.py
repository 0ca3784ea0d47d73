"""What stands out on a pair, host or environment in sentences: by cause, then by pair or host; the rest is counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import Metric, catalog
from benchweb.common.formatting import signed_percent
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import Alert
from benchweb.regressions.standing import SeriesPart, Standing, StandingAlert, is_main
from benchweb.web.series.section import history_url
from benchweb.web.tags.show import kind_label

# So many pairs that a host shares have the host in common, and are told as one.
_LEAST_OF_HOST = 3
_MOST_LINES = 12


@dataclass(frozen=True)
class StandingLine:
    """A sentence: by how much which series changed; of an alert with its title, which the link says."""

    words: str
    url: str
    # "bad", "good" or "none".
    tone: str = "none"
    arrow: str = ""
    change: str = ""
    # From the least to the most, where it is of several.
    span: str = ""
    alert: Alert | None = None
    title: str = ""


@dataclass(frozen=True)
class StandingLines:
    """The sentences of a page, the worst first, and the numbers of what they don't tell."""

    causes: Sequence[StandingLine]
    others: Sequence[StandingLine]
    # Of lines and of series that had no room.
    hidden: int
    total: int
    usual: int
    learning: int
    silent: int

    @property
    def is_all_usual(self) -> bool:
        return not self.causes and not self.others

    @property
    def rest(self) -> str:
        """Count what doesn't stand out."""
        is_rest = not self.is_all_usual
        parts = []
        if self.usual:
            of_all = ngettext("{count:,} series: as usual", "{count:,} series: as usual", self.usual)
            other = ngettext("{count:,} other series: as usual", "{count:,} other series: as usual", self.usual)
            parts.append((other if is_rest else of_all).format(count=self.usual))
        if self.learning:
            text = ngettext("{count:,} with too few runs to tell", "{count:,} with too few runs to tell", self.learning)
            parts.append(text.format(count=self.learning))
        if self.silent:
            old = ngettext("{count:,} not measured in 30 nights", "{count:,} not measured in 30 nights", self.silent)
            parts.append(old.format(count=self.silent))
        return " · ".join(parts)


@dataclass(frozen=True)
class _Told:
    """A series that is told of, with the names and ids of its ends."""

    pair: int
    label: str
    source: str
    sink: str
    source_host: str
    sink_host: str
    source_id: int
    sink_id: int
    kind: str
    metric: Metric | None
    ratio: float | None
    rises: bool


def standing_lines(found: Standing, of: Mapping[str, int]) -> StandingLines:
    """Say how series stand on the page of `of`, as an address names it: a pair, host or environment. No query."""
    causes = [_cause(each, found, of) for each in found.alerts]
    others = _others([_told(each) for each in found.outliers], found, of)
    return StandingLines(
        causes=causes[:_MOST_LINES],
        others=others[:_MOST_LINES],
        hidden=len(causes[_MOST_LINES:]) + len(others[_MOST_LINES:]) + found.outliers_hidden,
        total=found.total,
        usual=found.usual,
        learning=found.learning,
        silent=found.silent,
    )


def _cause(standing: StandingAlert, found: Standing, of: Mapping[str, int]) -> StandingLine:
    alert = standing.alert
    url, title = reverse("web:alert", args=[alert.pk]), str(alert_title(alert))
    main = [part for part in standing.parts if is_main(part.kind, part.metric)] or standing.parts
    # How far a figure is beyond its limit is no change, and some of many series don't tell how far all changed.
    if not main or alert.kind == Alert.Kind.THRESHOLD or standing.has_more:
        return StandingLine("", url, "bad", alert=alert, title=title)
    told = [_told(part) for part in main]
    named = next((each for each in told if each.kind == alert.params.get("kind")), told[0])
    alike = [each for each in told if each.rises == named.rises]
    words = _words(len(told), _total(told, found, of, is_of_kind=False), _where(told, of))
    return _line(alike, words, url, alert=alert, title=title)


def _others(told: Sequence[_Told], found: Standing, of: Mapping[str, int]) -> list[StandingLine]:
    """Say what stands out without an alert, what is worse first."""
    lines = []
    grouped = _by_kind if "pair" in of else _by_host
    for _key, alike in groupby(sorted(told, key=_sense), key=_sense):
        groups = grouped(list(alike))
        for group in groups:
            total = _total(group, found, of, is_of_kind="pair" in of)
            where = _("of {kind}").format(kind=kind_label(group[0].kind)) if "pair" in of else _where(group, of)
            lines.append(_line(group, _words(len(group), total, where), _url(group, of)))
    return lines


def _sense(told: _Told) -> tuple[int, bool]:
    """Return what series that are told together have in common; what is worse comes first."""
    return {"bad": 0, "none": 1, "good": 2}[_tone(told)], told.rises


def _tone(told: _Told) -> str:
    if told.metric is None or told.metric.better not in ("higher", "lower"):
        return "none"
    return "good" if told.rises == (told.metric.better == "higher") else "bad"


def _by_kind(told: Sequence[_Told]) -> list[list[_Told]]:
    kinds = dict.fromkeys(each.kind for each in told)
    return [[each for each in told if each.kind == kind] for kind in kinds]


def _by_host(told: Sequence[_Told]) -> list[list[_Told]]:
    """Put together the pairs that a host has in common, of several hosts the one with most; else each pair alone."""
    rest, groups = list(told), []
    while True:
        pairs = {(each.pair, each.source_id, each.sink_id) for each in rest}
        ends = Counter([("source", source) for _pair, source, _sink in pairs])
        ends.update([("sink", sink) for _pair, _source, sink in pairs])
        if not ends or ends.most_common(1)[0][1] < _LEAST_OF_HOST:
            break
        (end, host), _count = ends.most_common(1)[0]
        groups.append([each for each in rest if getattr(each, f"{end}_id") == host])
        rest = [each for each in rest if getattr(each, f"{end}_id") != host]
    alone = dict.fromkeys(each.pair for each in rest)
    return [*groups, *([each for each in rest if each.pair == pair] for pair in alone)]


def _where(told: Sequence[_Told], of: Mapping[str, int]) -> str:
    """Say where series are: on which pair, or to or from which host over how many pairs."""
    first, pairs = told[0], len({each.pair for each in told})
    if "pair" in of:
        return ""
    if pairs == 1:
        if "host" in of and first.source_id != first.sink_id:
            is_source = first.source_id == of["host"]
            return _("to {host}").format(host=first.sink) if is_source else _("from {host}").format(host=first.source)
        return _("of {pair}").format(pair=first.label)
    number = ngettext("{count} pair", "{count} pairs", pairs).format(count=pairs)
    if len({each.sink_id for each in told}) == 1:
        return _("to {host} ({pairs})").format(host=first.sink_host, pairs=number)
    if len({each.source_id for each in told}) == 1:
        return _("from {host} ({pairs})").format(host=first.source_host, pairs=number)
    return _("of {pairs}").format(pairs=number)


def _words(count: int, total: int, where: str) -> str:
    if count >= total:
        text = ngettext("on its only series {where}", "on all {count} series {where}", count)
    else:
        text = _("on {count} of {total} series {where}")
    return text.format(count=count, total=total, where=where).strip()


def _total(told: Sequence[_Told], found: Standing, of: Mapping[str, int], *, is_of_kind: bool) -> int:
    """Return how many main series there are where these are: of their pairs, or of their kinds, or of the one pair."""
    if "pair" in of and not is_of_kind:
        return found.total
    return sum(found.series_of.get(key, 0) for key in {each.kind if is_of_kind else each.pair for each in told})


def _line(told: Sequence[_Told], words: str, url: str, *, alert: Alert | None = None, title: str = "") -> StandingLine:
    ratios = sorted(each.ratio for each in told if each.ratio is not None)
    change = signed_percent(median(ratios)) if ratios else _("changed")
    least, most = (signed_percent(ratios[0]), signed_percent(ratios[-1])) if ratios else ("", "")
    span = _("from {least} to {most}").format(least=least, most=most) if least != most else ""
    arrow = "▲" if told[0].rises else "▼"
    return StandingLine(words, url, _tone(told[0]), arrow, change, span, alert, title)


def _url(group: Sequence[_Told], of: Mapping[str, int]) -> str:
    """Return the page that has more of a group: its history, its pair's or its host's page."""
    first = group[0]
    if "pair" in of:
        kind = catalog().kinds[first.kind]
        return history_url(of, kind, kind.headline, {})
    if len({each.pair for each in group}) == 1:
        return reverse("web:pair", args=[first.pair])
    is_to_one = len({each.sink_id for each in group}) == 1
    host = first.sink_id if is_to_one else first.source_id
    return "?series=all#series" if of.get("host") == host else reverse("web:host", args=[host])


def _told(part: SeriesPart) -> _Told:
    return _Told(
        pair=part.pair_id,
        label=part.pair,
        source=part.source,
        sink=part.sink,
        source_host=part.source_host,
        sink_host=part.sink_host,
        source_id=part.source_id,
        sink_id=part.sink_id,
        kind=part.kind,
        metric=catalog().metrics.get(part.metric),
        ratio=part.ratio,
        rises=part.rises,
    )
