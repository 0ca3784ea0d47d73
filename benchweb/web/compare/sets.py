"""The page of sets compared: a column for each side, its sample being the medians of its runs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import catalog
from benchweb.catalog.translation import sentence_space
from benchweb.charts.comparison.rows import RunsComparison, narrowed
from benchweb.charts.comparison.sets import ReadSides, compare_sets, sets_charts
from benchweb.documents.charts import ChartSpec
from benchweb.hosts.models import Pair
from benchweb.results.run_sets.matching import MatchedSample
from benchweb.results.run_sets.sets import Sample
from benchweb.web.compare.headline import ComparedHeadline, headline
from benchweb.web.compare.page import DisplayedRow, displayed_entry
from benchweb.web.compare.query import CompareQuery
from benchweb.web.compare.words import note_words, summary_words

# Of the pairs that a side alone measured so many are named.
_MOST_NAMED = 20


@dataclass(frozen=True)
class SetColumn:
    """A side at the head of its column."""

    label: str
    short: str
    number: int
    # All that it says, where the label is only what sets it apart.
    words: str
    counted: str
    first: datetime | None
    last: datetime | None
    is_baseline: bool
    summary: str
    # What its comparison with the baseline is of, where that isn't all of both.
    apart: str
    # Where runs of both sides can be launched, if nothing of them can be compared.
    launch_url: str
    # Pairs that it measured and that are compared with nothing: so many, and the first of them.
    left_out: int
    left_out_pairs: list[Pair]
    judged: int
    baseline_url: str
    remove_url: str
    headline: ComparedHeadline | None
    absent: str


@dataclass(frozen=True)
class SetsComparison:
    """Two or more sets compared."""

    # As its exports have it.
    compared: RunsComparison
    columns: list[SetColumn]
    rows: list[DisplayedRow]
    kinds: list[tuple[str, str]]
    charts: list[ChartSpec]
    note: str

    @property
    def has_left_out(self) -> bool:
        """Tell whether a side measured pairs that are compared with nothing."""
        return any(column.left_out for column in self.columns)


def sets_comparison(read: ReadSides, query: CompareQuery) -> SetsComparison:
    """Prepare the comparison of sets for its page; one query."""
    compared = compare_sets(read, show=query.show, sort=query.sort)
    narrow = narrowed(compared, kind=query.kind, only_differing=query.is_differing)
    first = [pair for each in read.matched for pair in _first_left_out(each)]
    named = Pair.objects.select_related("source__host", "sink__host").in_bulk(first)
    columns = [_column(query, read, compared, index, named) for index in range(len(read.sides))]
    rows = [
        DisplayedRow(
            row.measure, [displayed_entry(row.measure, *cell) for cell in zip(columns, row.entries, strict=True)]
        )
        for row in narrow.rows
    ]
    present = {trial.kind for sample in read.samples for trial in sample.trials}
    has_own_units = any(entry.words and entry.words.is_in_unit for row in rows for entry in row.entries)
    return SetsComparison(
        compared=narrow,
        columns=columns,
        rows=rows,
        kinds=[(kind.name, kind.label) for kind in catalog().kinds.values() if kind.name in present],
        charts=sets_charts(read),
        note=note_words(narrow.counts, has_own_units=has_own_units, is_of_sets=True),
    )


def _column(
    query: CompareQuery, read: ReadSides, compared: RunsComparison, index: int, named: Mapping[int, Pair]
) -> SetColumn:
    side, sample, matched = read.sides[index], read.samples[index], read.matched[index]
    position = read.positions[index]
    counts = Counter({"unmeasured" if name == "elsewhere" else name: n for name, n in compared.counts[index].items()})
    return SetColumn(
        label=read.labels[index],
        short=read.labels[index],
        number=index + 1,
        words=side.words,
        counted=_counted(sample),
        first=sample.first,
        last=sample.last,
        is_baseline=index == 0,
        summary=summary_words(counts) if sample.trials and read.samples[0].trials else "",
        apart=_apart(read.matched[0], matched) if index else "",
        launch_url=_launch_url(read.matched[0], matched) if index and _is_unmatched(read.matched[0], matched) else "",
        left_out=len(matched.pairs_left_out),
        left_out_pairs=[named[pair] for pair in _first_left_out(matched) if pair in named],
        judged=compared.judged[index],
        baseline_url=query.with_baseline_side(position),
        remove_url=query.without_side(position),
        headline=headline(compared.rows, index, compared.judged[index]) if index else None,
        absent=_("no run of this side measured it"),
    )


def _counted(sample: Sample) -> str:
    if not sample.trials:
        return _("no run with results matches")
    runs = ngettext("%(count)s run", "%(count)s runs", len(sample.pair_of_run)) % {"count": len(sample.pair_of_run)}
    pairs = ngettext("%(count)s pair", "%(count)s pairs", sample.pairs) % {"count": sample.pairs}
    return _("%(runs)s on %(pairs)s") % {"runs": runs, "pairs": pairs}


def _first_left_out(matched: MatchedSample) -> list[int]:
    return sorted(matched.pairs_left_out)[:_MOST_NAMED]


def _is_unmatched(baseline: MatchedSample, matched: MatchedSample) -> bool:
    return bool(baseline.trials and matched.trials) and not matched.pairs_compared


def _apart(baseline: MatchedSample, matched: MatchedSample) -> str:
    """Say what of the paths doesn't meet: only those of both sides are compared."""
    if _is_unmatched(baseline, matched):
        return _(
            "It measured no pair that the baseline measured, so nothing is compared: the paths alone may differ. "
            "Measure the same pairs on both sides, or both hosts with the same peers."
        )
    is_other = not matched.pairs_compared & baseline.pairs_compared
    left_out = len(matched.pairs_left_out | baseline.pairs_left_out)
    texts = {
        "pair": "",
        "hosts": _("Compared are pairs of the same two hosts."),
        "peer": _("Compared are pairs with the same other host."),
        "named": _("These runs were on another pair than the baseline's: the pair may make the difference.")
        if is_other
        else "",
    }
    without = ngettext(
        "%(count)s pair that only one side measured is left out.",
        "%(count)s pairs that only one side measured are left out.",
        left_out,
    )
    parts = [texts[matched.matched_by], without % {"count": left_out} if left_out else ""]
    return sentence_space().join(filter(None, parts)) if matched.trials and baseline.trials else ""


def _launch_url(*sides: MatchedSample) -> str:
    pairs = sorted(frozenset[int]().union(*(side.pairs_left_out for side in sides)))
    return f"{reverse('web:launch')}?{urlencode([('pairs', pair) for pair in pairs])}"
