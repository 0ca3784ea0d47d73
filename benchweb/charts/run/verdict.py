"""A run in one line: how many trials gave results, the best figures with their spread, and what to be wary of."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog import Kind, Metric, catalog
from benchweb.catalog.translation import translated
from benchweb.charts.lines import Sweep, sweeps
from benchweb.documents.nameless import is_chosen_freely
from benchweb.documents.references import Label, free_text, joined_label, kind_ref, value_ref, worded
from benchweb.plans.main_setting import main_params
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import State
from benchweb.state_words import state_word
from benchweb.statistics import Summary, summary

_RATES = ("rate_bps", "flow_rate_bps")
# From so much on a loss says more of the sender's speed than of the network.
UNPACED_LOSS_RATIO = 0.5
# What makes a figure another one wherever it is set, even in every trial alike: "9.99 Mbit/s" under a limit of
# 10 Mbit/s is no measure of the network, nor is a rate of sixteen transactions at once one of its latency.
_STATED_WHEN_SET = ("flows", "direction", "burst", "rate_bps", "flow_rate_bps", "rate_rps")


@dataclass(frozen=True)
class Setting:
    """A parameter's value, to be formatted by the page: `unit` is the catalog's."""

    name: str
    label: str
    value: Any
    unit: str


@dataclass(frozen=True)
class Headline:
    """A kind's headline metric at its main setting: the median of n repetitions."""

    kind: str
    kind_label: str
    metric: str
    label: str
    value: float
    unit: str
    n: int
    at: list[Setting]
    # The lowest and the highest of them; a share of earlier times has frozen none.
    extremes: tuple[float, float] | None = None
    # What was lost at the same settings, where the kind tells: without it a rate is half a truth.
    loss: "Headline | None" = None
    # Of a loss: most was lost, and nothing held the sender to a rate.
    is_of_unpaced: bool = False


@dataclass(frozen=True)
class VerdictSentence:
    """Parts of the sentence, in their order; `warnings` are clauses without a full stop."""

    trials: str
    headlines: list[Headline]
    limited_by: list[str]
    warnings: list[str]


def verdict(trials: Sequence[TrialRow], size_bytes: int | None = None) -> VerdictSentence:
    """Return the verdict on a run of these trials, each kind's figure at the plan's size, else the middle one."""
    return VerdictSentence(
        trials=trials_sentence([trial.state for trial in trials]),
        headlines=[
            found
            for sweep in sweeps(trials, catalog().kinds)
            if (found := _kind_headline(sweep, size_bytes)) is not None
        ],
        limited_by=_limited_by(trials),
        warnings=warnings_of(trials),
    )


def trials_sentence(states: Sequence[str]) -> str:
    """Say how many of a run's trials, told by their states, have finished, and what the others are."""
    counts, total = Counter(states), len(states)
    others = [state for state in State.values if state != State.FINISHED and counts[state]]
    comma = pgettext("between parts of a sentence", ", ")
    details = comma.join(
        _("%(count)s %(state)s") % {"count": counts[state], "state": state_word(state)} for state in others
    )
    sentence = ngettext("{finished} of {total} trial finished", "{finished} of {total} trials finished", total)
    sentence = sentence.format(finished=counts[State.FINISHED], total=total)
    return f"{sentence}{comma}{details}" if details else sentence


def settings_of(sweep: Sweep, trial: TrialRow) -> list[Setting]:
    """Return what a trial's figures are told with."""
    values = [(parameter, sweep.values([trial], parameter.name)[0]) for parameter in sweep.kind.parameters.values()]
    return [
        Setting(each.name, each.label, value_ref(value) if is_chosen_freely(each, value) else value, each.unit)
        for each, value in values
        if each.name in sweep.stated or (each.name in _STATED_WHEN_SET and value != each.default)
    ]


def headline_of(sweep: Sweep, size_bytes: int | None = None) -> tuple[Headline | None, TrialRow]:
    """Return a kind's headline at its main setting, with its loss, and a trial at that setting."""
    return _kind_headline(sweep, size_bytes), _main_trials(sweep, size_bytes)[0]


def metric_headlines(trials: Sequence[TrialRow], size_bytes: int | None = None) -> list[Headline]:
    """Return each metric at its kind's main setting, kind by kind, each kind's own headline first."""
    return [
        found
        for sweep in sweeps(trials, catalog().kinds)
        for metric in sorted(sweep.kind.metrics.values(), key=lambda each: each.key != sweep.kind.headline)
        if (found := _headline(sweep, metric, size_bytes)) is not None
    ]


def _kind_headline(sweep: Sweep, size_bytes: int | None) -> Headline | None:
    headline = _headline(sweep, sweep.kind.metrics[sweep.kind.headline], size_bytes)
    return replace(headline, loss=_loss(sweep, headline)) if headline else None


def _headline(sweep: Sweep, metric: Metric, size_bytes: int | None) -> Headline | None:
    at = _main_trials(sweep, size_bytes)
    found = summary([trial.metrics[metric.key] for trial in at if metric.key in trial.metrics and trial.measured])
    return None if found is None else _figure(sweep.kind, metric, found, settings_of(sweep, at[0]))


def _main_trials(sweep: Sweep, size_bytes: int | None) -> list[TrialRow]:
    """Return the repetitions of the setting that stands for the sweep, whether they gave a result or not."""
    main = main_params(sweep.kind, [trial.params for trial in sweep.trials], size_bytes)
    groups = sweep.grouped(sweep.trials, sweep.swept).values()
    return next(group for group in groups if any(trial.params == main for trial in group))


def _loss(sweep: Sweep, beside: Headline) -> Headline | None:
    """Return the loss of the trials that a headline tells of."""
    metric = sweep.kind.metrics.get(sweep.kind.loss)
    if metric is None:
        return None
    there = [
        trial
        for trial in sweep.trials
        if all(sweep.values([trial], setting.name)[0] == setting.value for setting in beside.at)
    ]
    loss = summary([trial.metrics[metric.key] for trial in there if trial.measured and metric.key in trial.metrics])
    if loss is None:
        return None
    figure = _figure(sweep.kind, metric, loss, beside.at)
    rates = [name for name in _RATES if name in sweep.kind.parameters]
    is_unpaced = bool(rates) and not any(sweep.values(there, name)[0] for name in rates)
    return replace(figure, is_of_unpaced=is_unpaced and loss.median >= UNPACED_LOSS_RATIO)


def _figure(kind: Kind, metric: Metric, summary: Summary, at: list[Setting]) -> Headline:
    return Headline(
        kind=kind.name,
        kind_label=kind.label,
        metric=metric.key,
        label=metric.label,
        value=summary.median,
        unit=metric.unit,
        n=summary.n,
        at=at,
        extremes=summary.extremes,
    )


def _limited_by(trials: Sequence[TrialRow]) -> list[str]:
    """Say what limited the results of each kind, the most frequent first, with how many unless all agree."""
    by_kind: dict[str, list[TrialRow]] = {}
    for trial in trials:
        if trial.limits:
            by_kind.setdefault(trial.kind, []).append(trial)
    return [_kind_limits(kind, judged, is_only_kind=len(by_kind) == 1) for kind, judged in by_kind.items()]


def _kind_limits(kind_name: str, judged: list[TrialRow], *, is_only_kind: bool) -> str:
    kind = catalog().kinds.get(kind_name)
    label = kind.label if kind else kind_ref(kind_name)
    return limits_of(judged) if is_only_kind else worded(_("{kind} by "), kind=label) + limits_of(judged)


def limits_of(trials: Sequence[TrialRow]) -> str:
    """Say in a row what limited the results of one kind; nothing where no engine told."""
    return joined_label(limits_by_frequency(trials), pgettext("between parts of a sentence", ", "))


def limits_by_frequency(trials: Sequence[TrialRow]) -> list[Label]:
    """Say what limited the results of one kind, the most frequent first, with how many unless all agree."""
    judged = [trial for trial in trials if trial.limits]
    counts = Counter(by for trial in judged for by in {limit["by"] for limit in trial.limits})
    return [
        Label(
            limit_words(by),
            "" if count == len(judged) else _(" ({count} of {total})").format(count=count, total=len(judged)),
        )
        for by, count in counts.most_common()
    ]


def limit_words(by: str) -> str:
    """Return a verdict in words; one that the catalog doesn't know is a free text."""
    return translated(catalog().limits[by]) if by in catalog().limits else free_text(by.replace("_", " "))


def warnings_of(trials: Sequence[TrialRow]) -> list[str]:
    """Say each flag once, with how many results carry it unless all trials do.

    Only results that count: what a trial had measured when it was cancelled is in no figure that a note could be on.
    """
    counted = [trial for trial in trials if trial.measured]
    counts = Counter(flag for trial in counted for flag in set(trial.flags))
    return [
        Label(
            flag_words(flag),
            ""
            if count == len(trials)
            else _(" (in {count} of {total} results)").format(count=count, total=len(counted)),
        )
        for flag, count in sorted(counts.items())
    ]


def flag_words(flag: str) -> str:
    """Say what a flag means to a reader; one that the catalog doesn't know is a free text."""
    return translated(catalog().flags[flag]) if flag in catalog().flags else free_text(flag.replace("_", " "))
