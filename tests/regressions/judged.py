"""Nights of runs that were measured, summed up and judged, one after the other."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from benchweb.hosts.models import Pair
from benchweb.regressions.judge import judge_run
from benchweb.regressions.judgements import leave_unjudged
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run
from tests.nights import DAY, NIGHT, add_values, measured

# The noise of quiet nights, as shares of the level.
NOISE = (0.0, 0.004, -0.003, 0.002, -0.005, 0.001, 0.003, -0.002, 0.005, -0.001, -0.004, 0.0025)
LEVEL = 1e9


def level(night: int, factor: float = 1.0) -> float:
    """Return what a night measures at a share of the usual level."""
    return LEVEL * factor * (1 + NOISE[night % len(NOISE)])


def night(number: int) -> datetime:
    """Return when a night's runs begin."""
    return NIGHT + number * DAY


def run_of(pair: Pair, number: int, factor: float = 1.0, *, series: int = 1) -> Run:
    """Make a night's run, with so many series: message sizes of one test; summed up, not judged."""
    at = night(number)
    run = measured(pair, at, level(number, factor))
    for index in range(1, series):
        # Each series has its own noise.
        add_values(run, pair, at, level(number + index, factor), identity={"message_size_bytes": 2**index})
    write_figures()
    return run


def judged(pairs: Pair | Sequence[Pair], factors: Iterable[float], *, first: int = 0, series: int = 1) -> list[Run]:
    """Measure and judge nights, in each of which all pairs measure the same share of the usual level."""
    runs = []
    for number, factor in enumerate(factors, start=first):
        for pair in [pairs] if isinstance(pairs, Pair) else pairs:
            runs.append(run_of(pair, number, factor, series=series))
            assert judge_run(runs[-1].pk)
    return runs


def latency_night(pair: Pair, number: int, seconds: float) -> None:
    """Measure and judge a night's round trips."""
    noisy = seconds * (1 + NOISE[number % len(NOISE)])
    run = measured(pair, night(number), noisy, kind="tcp_rr", metric="latency_p50_seconds")
    write_figures()
    assert judge_run(run.pk)


def slower_with_jitter(pair: Pair) -> None:
    """Judge thirty nights, of which the last ten are a tenth slower, with jitter that is too little for a suspect."""
    for number in range(30):
        is_slow = number >= 20
        run = measured(pair, night(number), level(number, 0.9 if is_slow else 1.0), kind="udp_stream")
        jitter = 1e-3 * (1.028 if is_slow else 1.0) * (1 + NOISE[number % len(NOISE)] / 5)
        add_values(run, pair, night(number), jitter, kind="udp_stream", metric="jitter_seconds")
        write_figures()
        assert judge_run(run.pk)


def quiet(pairs: Pair | Sequence[Pair], nights: int = 20, *, series: int = 1) -> list[Run]:
    """Measure nights in which nothing happens, and judge the last two."""
    runs, unjudged = [], max(0, nights - 2)
    for number in range(unjudged):
        for pair in [pairs] if isinstance(pairs, Pair) else pairs:
            runs.append(run_of(pair, number, series=series))
            leave_unjudged(runs[-1])
    return [*runs, *judged(pairs, [1.0] * (nights - unjudged), first=unjudged, series=series)]
