"""What the head of a run's page shows beside its state: where it belongs, its figures, and its place in the queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchweb.charts.run.usual import UsualFigure, usual_figures
from benchweb.hosts.models import Endpoint
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import Run
from benchweb.runs.queueing.expectation import Expectation, expectation
from benchweb.web.series.section import history_url


@dataclass(frozen=True)
class FigureRow:
    """A kind's figure in a run, and the page that shows it over time."""

    figure: UsualFigure
    history_url: str


def figure_rows(run: Run, trials: Sequence[TrialRow]) -> list[FigureRow]:
    """Return a row for each kind of a run; two queries."""
    of = {"pair": run.pair_id}
    return [
        FigureRow(figure, history_url(of, figure.kind, figure.metric.key, figure.params))
        for figure in usual_figures(run, trials)
    ]


@dataclass(frozen=True)
class QueueView:
    """How a pending run stands in the queue; `silent` are its ends that do not answer."""

    run: Run
    expected: Expectation
    running: list[Run]
    silent: list[Endpoint]


def queue_view(run: Run) -> QueueView | None:
    """Return a pending run's place in the queue, computed now; None for one that waits no more."""
    expected = expectation(run)
    if expected is None:
        return None
    running = Run.objects.select_related("plan_version__plan", "pair__source__host", "pair__sink__host")
    return QueueView(
        run,
        expected,
        list(running.filter(pk__in=expected.running).order_by("pk")),
        [end for end in (run.pair.source, run.pair.sink) if end.pk in expected.silent_ends],
    )
