"""Sets of runs beside each other: the sides read, their samples taken, compared and drawn; for pages and the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.charts.comparison.charts import DrawnRun, comparison_charts
from benchweb.charts.comparison.rows import RunsComparison, compare_runs, metrics_shown
from benchweb.charts.comparison.sides import Side, SideError, named_sides, read_side, side_labels
from benchweb.documents.charts import ChartSpec
from benchweb.results.run_sets.matching import MatchedSample, matched_samples
from benchweb.results.run_sets.samples import samples
from benchweb.results.run_sets.sets import Sample


@dataclass(frozen=True)
class ReadSides:
    """The sides of an address that can be read, with what they gave; and in words what can't be."""

    sides: list[Side]
    # The position of each in the address, from 0.
    positions: list[int]
    labels: list[str]
    samples: list[Sample]
    # What of each sample is compared with the first.
    matched: list[MatchedSample]
    notices: list[str]


def read_sides(texts: Sequence[str], *, zone: tzinfo, show: str, kind: str = "") -> ReadSides:
    """Read sides with their samples; at most four queries for names, and two and one a fact for the samples."""
    read: dict[int, Side] = {}
    notices = []
    now = timezone.now()
    for position, text in enumerate(texts):
        try:
            read[position] = read_side(text, now=now, zone=zone)
        except SideError as error:
            notices.append(_("Side %(number)s: %(why)s") % {"number": position + 1, "why": error.message})
    sides, missing = named_sides(list(read.values()))
    taken = samples([side.wanted for side in sides], metrics=metrics_shown(show), kind=kind)
    matched = matched_samples(taken, [side.wanted for side in sides])
    return ReadSides(sides, list(read), side_labels(sides), taken, matched, notices + missing)


def compare_sets(read: ReadSides, *, show: str, sort: str = "worst") -> RunsComparison:
    """Compare the sides, the first being the baseline, on the paths that both have. No query."""
    paths = [each.path_of_run for each in read.matched]
    return compare_runs([each.trials for each in read.matched], show=show, sort=sort, paths=paths)


def sets_charts(read: ReadSides) -> list[ChartSpec]:
    """Draw the sides over each other: a point is the median of its runs' medians. No query."""
    drawn = [
        DrawnRun(id=number, label=label, href="", trials=each.trials, ids={})
        for number, (label, each) in enumerate(zip(read.labels, read.matched, strict=True), 1)
    ]
    return comparison_charts(drawn)


def sides_document(read: ReadSides) -> list[dict[str, Any]]:
    """Say what each side is and what it gave, for exports."""
    return [
        {
            "side": number,
            "query": side.text,
            "name": side.words,
            "runs": len(sample.pair_of_run),
            "pairs": sample.pairs,
            "pairs_matching": sample.total_pairs,
            "pairs_compared": sorted(each.pairs_compared),
            "pairs_left_out": sorted(each.pairs_left_out),
            "first_at": sample.first,
            "last_at": sample.last,
        }
        for number, (side, sample, each) in enumerate(zip(read.sides, read.samples, read.matched, strict=True), 1)
    ]
