"""What runs that started together gave, as their campaign's page shows it: one result with its parts."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchweb.charts.simultaneous.charts import shares_chart
from benchweb.charts.simultaneous.summaries import MOST_DOCUMENTS, SourceFigure, TogetherTest, together_tests
from benchweb.documents.charts import ChartSpec
from benchweb.runs.lists import RunLine, run_lines
from benchweb.runs.models import Campaign, Run, Trial

Sources = list[tuple[RunLine, SourceFigure]]


@dataclass(frozen=True)
class TogetherView:
    """The tests of a campaign, each with its sources by their names."""

    tests: list[tuple[TogetherTest, Sources]]
    # How the sources shared the sink over time, of each test that has the course of every one.
    charts: list[ChartSpec]
    sources: int
    sink: str
    # Trials of each source that the page leaves out.
    hidden: int


def together_view(campaign: Campaign) -> TogetherView | None:
    """Return what the sources of a campaign gave together, in three queries; None for runs that follow each other."""
    if campaign.arrangement != Campaign.Arrangement.TOGETHER:
        return None
    runs = {line.pk: line for line in run_lines(Run.objects.filter(campaign=campaign.pk).order_by("pk"))}
    first = next(iter(runs.values()))
    most = max(1, MOST_DOCUMENTS // len(runs))
    tests = [(test, _named(test, runs)) for test in together_tests(campaign.pk, most_trials=most)]
    trials = Trial.objects.filter(run=first.pk).count()
    hosts = {pk: line.source_host for pk, line in runs.items()}
    charts = [chart for number, (test, _sources) in enumerate(tests, 1) if (chart := shares_chart(test, hosts, number))]
    return TogetherView(tests, charts, len(runs), first.sink_host, max(0, trials - most))


def _named(test: TogetherTest, runs: Mapping[int, RunLine]) -> Sources:
    return [(runs[source.run], source) for source in test.sources]
