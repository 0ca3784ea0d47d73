"""Tests of sources together over their repetitions: what all gave, what each gave, and what is missing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchweb.catalog import Kind, Metric, catalog
from benchweb.charts.lines import sweeps
from benchweb.charts.run.verdict import Setting, settings_of
from benchweb.charts.simultaneous.results import SourcePart, TogetherTrial, together_results
from benchweb.results.selectors import TrialRow
from benchweb.state_words import state_word
from benchweb.statistics import Summary, summary

# A trial's document may have some hundred kilobytes, and a page reads one of each source.
MOST_DOCUMENTS = 400


@dataclass(frozen=True)
class SourceFigure:
    """What a source gave over the repetitions; `missing` says of how many it gave nothing, and why first."""

    run: int
    values: Summary | None
    share: float | None
    missing: int
    reason: str


@dataclass(frozen=True)
class TogetherTest:
    """One kind with one set of parameters. Figures are of whole repetitions, or where there is none of all others."""

    kind: Kind
    metric: Metric
    settings: list[Setting]
    trials: list[TogetherTrial]
    is_whole: bool
    sum: Summary | None
    fairness: Summary | None
    counted_bps: Summary | None
    sum_per_counted: Summary | None
    sources: list[SourceFigure]

    @property
    def held(self) -> int:
        """Return in how many repetitions the common window held."""
        return sum(trial.is_window_held for trial in self.trials)

    @property
    def apart(self) -> int:
        """Return in how many repetitions the sum isn't what the sink's interfaces counted."""
        return sum(trial.is_counted is False for trial in self.trials)

    @property
    def interfaces(self) -> list[str]:
        """Return the sink's interfaces that counted."""
        return sorted({name for trial in self.trials if trial.sink for name in trial.sink.interfaces})


def together_tests(campaign_id: int, *, most_trials: int) -> list[TogetherTest]:
    """Return the tests of a campaign's first trials, as far as they are over; one query."""
    results = together_results(campaign_id, after=0, count=most_trials)
    over = {result.trial.id: result for result in results if not result.is_open}
    tests = []
    for sweep in sweeps([result.trial for result in over.values()], catalog().kinds):
        for trials in sweep.grouped(sweep.trials, sweep.swept).values():
            tests.append(_test([over[trial.id] for trial in trials], settings_of(sweep, trials[0])))
    return tests


def _test(trials: Sequence[TogetherTrial], settings: list[Setting]) -> TogetherTest:
    whole = [trial for trial in trials if trial.total is not None]
    summarised = whole or trials
    return TogetherTest(
        kind=trials[0].kind,
        metric=trials[0].metric,
        settings=settings,
        trials=list(trials),
        is_whole=bool(whole),
        sum=_over(summarised, lambda trial: trial.sum),
        fairness=_over(summarised, lambda trial: trial.fairness),
        counted_bps=_over(summarised, lambda trial: trial.sink.bits_per_second if trial.sink else None),
        sum_per_counted=_over(summarised, lambda trial: trial.sum_per_counted),
        sources=[_source(parts) for parts in zip(*(trial.parts for trial in trials), strict=True)],
    )


def _over(trials: Iterable[TogetherTrial], figure: Callable[[TogetherTrial], float | None]) -> Summary | None:
    return summary([value for trial in trials if (value := figure(trial)) is not None])


def _source(parts: Sequence[SourcePart]) -> SourceFigure:
    missing = [part for part in parts if part.value is None]
    shares = summary([part.share for part in parts if part.share is not None])
    return SourceFigure(
        run=parts[0].run,
        values=summary([part.value for part in parts if part.value is not None]),
        share=shares.median if shares else None,
        missing=len(missing),
        reason=_why(missing[0].trial) if missing else "",
    )


def _why(trial: TrialRow) -> str:
    return trial.why or state_word(trial.state)
