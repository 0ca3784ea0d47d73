"""The page of sets compared: a column for each side, its sample being the medians of its runs."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.catalog import catalog
from benchweb.charts.comparison.rows import RunsComparison, narrowed
from benchweb.charts.comparison.sets import ReadSides, compare_sets, sets_charts
from benchweb.documents.charts import ChartSpec
from benchweb.results.run_sets.sets import Sample
from benchweb.web.compare.headline import ComparedHeadline, headline
from benchweb.web.compare.page import DisplayedRow, displayed_entry
from benchweb.web.compare.query import CompareQuery
from benchweb.web.compare.words import note_words, summary_words


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
    # What makes its comparison with the baseline one of other pairs.
    apart: str
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


def sets_comparison(read: ReadSides, query: CompareQuery) -> SetsComparison:
    """Prepare the comparison of sets for its page. No query."""
    compared = compare_sets(read, show=query.show, sort=query.sort)
    narrow = narrowed(compared, kind=query.kind, only_differing=query.is_differing)
    columns = [_column(query, read, compared, index) for index in range(len(read.sides))]
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


def _column(query: CompareQuery, read: ReadSides, compared: RunsComparison, index: int) -> SetColumn:
    side, sample = read.sides[index], read.samples[index]
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
        apart=_apart(read.samples[0], sample) if index else "",
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


def _apart(baseline: Sample, sample: Sample) -> str:
    """Say what of the pairs doesn't meet: only pairs of both sides are compared, where there are any."""
    here, there = set(sample.pair_of_run.values()), set(baseline.pair_of_run.values())
    common = here & there
    if not here or not there or here == there:
        return ""
    if not common:
        return _("These runs were on other pairs than the baseline's: the pairs may make the difference.")
    counts = {"common": len(common), "all": len(here | there)}
    return _("Differences are of the %(common)s pairs that both sides have, of %(all)s.") % counts
