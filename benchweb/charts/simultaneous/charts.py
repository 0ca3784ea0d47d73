"""How the sources of a test shared the sink over time, in the repetition whose sum is nearest to the median."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.charts.axes import with_unit
from benchweb.charts.lines import Palette
from benchweb.charts.simultaneous.results import SourcePart, TogetherTrial
from benchweb.charts.simultaneous.summaries import TogetherTest
from benchweb.charts.table import chart_table
from benchweb.documents.charts import Axis, ChartPoint, ChartSeries, ChartSpec, ReferenceLine
from benchweb.statistics.simultaneous import Window, shares_within

_X = Axis(label=gettext_noop("Time since all measured"), unit="s", scale="linear")
_MOST_PIECES, _MOST_SOURCES = 120, 16


def shares_chart(test: TogetherTest, sources: Mapping[int, str], number: int) -> ChartSpec | None:
    """Return the shares of a test's sources over time; None where no repetition has the course of every source.

    `sources` are the hosts' names by run, `number` tells the test from the others of its campaign.
    """
    trial = _typical(test)
    if trial is None or trial.window is None:
        return None
    pieces = min(_MOST_PIECES, *(len(part.course) for part in trial.parts))
    shares = shares_within([part.course for part in trial.parts], trial.window, pieces)
    if pieces < 2 or all(row is None for _cell, row in shares):
        return None
    x, y = replace(_X, label=_(_X.label)), Axis(label=_("Share of the sum"), unit="ratio", from_zero=True)
    palette = Palette()
    shown = _most_uneven(trial.parts)
    series = [
        ChartSeries(
            id=f"source-{part.run}",
            label=sources[part.run],
            color=palette.color(str(part.run)),
            marker=palette.marker(str(part.run)),
            points=[_point(row[place] if row else None, cell, trial.window) for cell, row in shares],
        )
        for place, part in enumerate(trial.parts)
        if part in shown
    ]
    return ChartSpec(
        id=f"shares-{number}",
        title=_("Each source's share over time"),
        subtitle=_subtitle(test, trial, len(shown)),
        x=x,
        y=y,
        series=series,
        table=chart_table(x, y),
        lines=[ReferenceLine(_("even share"), 1 / len(trial.parts))],
    )


def _typical(test: TogetherTest) -> TogetherTrial | None:
    """Return the repetition to which every source gave its part, and whose sum is nearest to the median of such."""
    whole = [trial for trial in test.trials if trial.total and trial.window and len(trial.parts) > 1]
    with_courses = [trial for trial in whole if all(part.course for part in trial.parts)]
    middle = test.sum.median if test.sum else 0.0
    return min(with_courses, key=lambda trial: abs((trial.sum or 0.0) - middle), default=None)


def _most_uneven(parts: Sequence[SourcePart]) -> list[SourcePart]:
    """Return the parts that are drawn: of many those with the smallest and the largest shares."""
    if len(parts) <= _MOST_SOURCES:
        return list(parts)
    ordered = sorted(parts, key=lambda part: part.share or 0.0)
    return ordered[: _MOST_SOURCES // 2] + ordered[-_MOST_SOURCES // 2 :]


def _point(share: float | None, cell: Window, window: Window) -> ChartPoint:
    at = cell.end - window.begin
    if share is None:
        return ChartPoint(x=at, y=None, reason=_("not measured in this interval"))
    return ChartPoint(x=at, y=share, n=1, low=share, high=share)


def _subtitle(test: TogetherTest, trial: TogetherTrial, shown: int) -> str:
    words = [trial.kind.label, *(f"{each.label} {with_unit(each.value, each.unit)}" for each in test.settings)]
    if len(test.trials) > 1:
        words.append(_("repetition {number} of {total}").format(number=trial.trial.repetition, total=len(test.trials)))
    if shown < len(trial.parts):
        words.append(
            _("{shown} of {total} sources, those with the smallest and the largest shares").format(
                shown=shown, total=len(trial.parts)
            )
        )
    return " · ".join(words)
