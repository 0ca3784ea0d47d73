"""A comparison in words and signs: what changed, how sure that is, and what these repetitions could have shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from benchweb.catalog import Metric
from benchweb.catalog.translation import sentence_space
from benchweb.charts.comparison.rows import Entry
from benchweb.common.formatting import signed_hundredths, three_digits
from benchweb.runs.models import Run
from benchweb.statistics import Difference, Verdict
from benchweb.statistics.comparison import repetitions_needed
from benchweb.statistics.deciding import LEAST_VALUES_OF_INTERVAL

# A number isn't parted from its unit.
_NO_BREAK = "\xa0"
_ARROWS = {1: "▲", -1: "▼", 0: "="}
# What becomes of a measure, in the order of a summary.
_OUTCOMES = {
    "worse": _lazy("%(count)s worse"),
    "better": _lazy("%(count)s better"),
    "changed": _lazy("%(count)s changed"),
    Verdict.PERHAPS: _lazy("%(count)s possibly changed"),
    Verdict.NONE_SHOWN: _lazy("%(count)s without a significant change"),
    Verdict.SAME: _lazy("%(count)s identical in every repetition"),
    Verdict.TOO_FEW: _lazy("%(count)s with too few repetitions"),
    "elsewhere": _lazy("%(count)s not in its plan"),
    "unmeasured": _lazy("%(count)s not measured"),
    "missing": _lazy("%(count)s missing"),
    "alone": _lazy("%(count)s not in the baseline"),
    "unmatched": _lazy("%(count)s on other pairs only, which isn't compared"),
}


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class Words:
    """An entry's change; `tone` is worse, better, changed, or empty for what isn't shown to be any."""

    tone: str
    tone_words: str
    arrow: str
    change: str
    interval: str
    # The difference in the metric's own unit, for the title.
    full: str
    # Whether `change` too is in the metric's own unit, where others are in per cent.
    is_in_unit: bool
    effect: str
    verdict: str
    # The whole sentence, where the verdict is in short what is said once above the table.
    verdict_full: str = ""


def words(entry: Entry, metric: Metric, judged: int) -> Words | None:
    """Say what an entry's comparison with the baseline found; None where there was nothing to compare."""
    difference = entry.difference
    if difference is None:
        return None
    texts = _texts(get_language())
    return Words(
        tone=entry.change,
        tone_words=texts.tones.get(entry.change, ""),
        arrow=_ARROWS[(difference.difference > 0) - (difference.difference < 0)],
        change=_size(difference.difference, difference, metric, texts),
        interval="" if entry.verdict == Verdict.TOO_FEW else _interval(difference, metric, texts),
        full=_full(difference, metric.unit, texts),
        is_in_unit=metric.unit != "ratio" and _is_below_nothing(difference),
        # "Large", or an interval that leaves out 0, beside "too few repetitions" would say two things at once.
        effect="" if entry.verdict == Verdict.TOO_FEW else _effect(difference, texts),
        verdict=_verdict(entry, metric, judged, texts),
        verdict_full=_whole_verdict(entry, metric, texts),
    )


class _Texts(NamedTuple):
    """What an entry's words are made of, in one language."""

    tones: dict[str, str]
    effects: dict[str, str]
    points: str
    full: str
    between: str
    same: str
    too_few: str
    perhaps: str
    none_shown: str
    none_in_short: str
    not_by_rank: str
    least_shown: str
    least_rise_shown: str
    single: str
    few: str
    few_runs: str
    too_few_runs: str


@cache
def _texts(_language: str | None) -> _Texts:
    """Keep the texts of a language: a comparison has hundreds of entries, and each would look up six of them."""
    return _Texts(
        tones={"worse": _("worse"), "better": _("better")},
        effects={"negligible": _("negligible"), "small": _("small"), "medium": _("medium"), "large": _("large")},
        points=_("points"),
        full=_("%(difference)s; 95 %% of resamples: %(interval)s"),
        between=_("%(low)s to %(high)s"),
        same=_("identical in every repetition"),
        too_few=_("too few repetitions"),
        perhaps=_("possibly: among %(count)s comparisons this can be chance"),
        none_shown=_("no significant change"),
        none_in_short=_("no significant change"),
        not_by_rank=_("%(text)s by the rank-sum test"),
        least_shown=_("%(text)s; smallest detectable change: %(least)s"),
        least_rise_shown=_("%(text)s; detectable: a rise of %(least)s, no fall"),
        single=_("a single repetition has no spread, so no change can be detected"),
        few=_("%(n)s and %(m)s repetitions are too few (minimum %(needed)s each)"),
        few_runs=_("%(n)s and %(m)s runs are too few (minimum %(needed)s each)"),
        too_few_runs=_("too few runs"),
    )


def note_words(counts: Iterable[Mapping[str, int]], *, has_own_units: bool, is_of_sets: bool = False) -> str:
    """Say once what many cells have in short: a difference that isn't shown, what it would take to tell, its unit."""
    verdicts = {verdict for each in counts for verdict, count in each.items() if count}
    notes = []
    if Verdict.NONE_SHOWN in verdicts:
        notes.append(
            _(
                "“No significant change” doesn't mean that there is no change: "
                "the number of repetitions limits what can be detected."
            )
        )
    if Verdict.TOO_FEW in verdicts:
        text = _(
            "“Too few repetitions” to compare runs: the minimum is %(needed)s of each run, "
            "and more if many metrics are compared."
        )
        of_sets = _(
            "“Too few runs” to compare: the minimum is %(needed)s on each side, and more if many metrics are compared."
        )
        notes.append((of_sets if is_of_sets else text) % {"needed": repetitions_needed()})
    if has_own_units:
        notes.append(
            _("A difference is shown in the metric's own unit if its interval in percent would reach below −100 %.")
        )
    return sentence_space().join(notes)


def _size(value: float, difference: Difference, metric: Metric, texts: _Texts) -> str:
    return _NO_BREAK.join(_parts(value, difference, metric, texts)).rstrip()


def _parts(value: float, difference: Difference, metric: Metric, texts: _Texts) -> tuple[str, str]:
    """Write a difference: per cent of the baseline, points for shares, else the unit itself."""
    if metric.unit == "ratio":
        return signed_hundredths(value), texts.points
    share = difference.share(value)
    return (
        _quantity(value, metric.unit)
        if share is None or _is_below_nothing(difference)
        else (signed_hundredths(share), "%")
    )


def _is_below_nothing(difference: Difference) -> bool:
    """Tell whether the interval would go below −100 %: the resamples' baseline is not that of the percentages."""
    share = difference.share(difference.interval[0]) if difference.interval else None
    return share is not None and share <= -1


def _interval(difference: Difference, metric: Metric, texts: _Texts) -> str:
    if difference.interval is None:
        return ""
    low, high = (_parts(end, difference, metric, texts) for end in difference.interval)
    return _between(low, high, texts)


def _full(difference: Difference, unit: str, texts: _Texts) -> str:
    """Write the difference and its interval in the unit itself."""
    if unit == "ratio":
        return ""
    text = " ".join(_quantity(difference.difference, unit)).rstrip()
    if difference.interval is None:
        return text
    low, high = (_quantity(end, unit) for end in difference.interval)
    return texts.full % {"difference": text, "interval": _between(low, high, texts)}


def _between(low: tuple[str, str], high: tuple[str, str], texts: _Texts) -> str:
    first = low[0] if low[1] == high[1] else " ".join(low).rstrip()
    return texts.between % {"low": first, "high": " ".join(high).rstrip()}


def _effect(difference: Difference, texts: _Texts) -> str:
    if difference.is_constant or min(difference.n, difference.baseline_n) < LEAST_VALUES_OF_INTERVAL:
        return ""
    delta = f"{difference.cliffs_delta:+.2f}".replace("-", "−")
    return f"δ {'0' if difference.cliffs_delta == 0 else delta} {texts.effects[difference.effect]}"


def _verdict(entry: Entry, metric: Metric, judged: int, texts: _Texts) -> str:
    difference = entry.difference
    match entry.verdict:
        case Verdict.SAME:
            return texts.same
        case Verdict.TOO_FEW:
            return texts.too_few_runs if entry.paths else texts.too_few
        case Verdict.NONE_SHOWN if difference:
            return _none_shown(texts.none_in_short, difference, metric, texts)
        case Verdict.PERHAPS:
            return texts.perhaps % {"count": judged}
    return ""


def _whole_verdict(entry: Entry, metric: Metric, texts: _Texts) -> str:
    """Return the sentence of a verdict that a cell has in short; empty where the cell has all of it."""
    difference = entry.difference
    if difference is None:
        return ""
    if entry.verdict == Verdict.TOO_FEW:
        return _too_few(difference, texts, is_of_runs=bool(entry.paths))
    return _none_shown(texts.none_shown, difference, metric, texts) if entry.verdict == Verdict.NONE_SHOWN else ""


def _too_few(difference: Difference, texts: _Texts, *, is_of_runs: bool) -> str:
    least = min(difference.n, difference.baseline_n)
    if least == 1 and not is_of_runs:
        return texts.single
    return (texts.few_runs if is_of_runs else texts.few) % {
        "n": difference.baseline_n,
        "m": difference.n,
        "needed": repetitions_needed(),
    }


def _none_shown(text: str, difference: Difference, metric: Metric, texts: _Texts) -> str:
    if difference.interval and (difference.interval[0] > 0 or difference.interval[1] < 0):
        return texts.not_by_rank % {"text": text}
    if not difference.least_shift_shown:
        return text
    least = _size(difference.least_shift_shown, difference, metric, texts).lstrip("+")
    seen = _size(abs(difference.difference), difference, metric, texts).lstrip("+")
    # The test alone would find such a one: it is not shown for its interval reaches over 0, as that of this one does.
    if difference.least_shift_shown <= abs(difference.difference) or least == seen:
        return text
    # No rate, latency or share falls by more than it is.
    is_fall_possible = difference.least_shift_shown <= difference.baseline_median
    return (texts.least_shown if is_fall_possible else texts.least_rise_shown) % {"text": text, "least": least}


def _quantity(value: float, unit: str) -> tuple[str, str]:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    number, unit_in_use = three_digits(abs(value), unit)
    return sign + number, unit_in_use


def apart_words(baseline: Run, run: Run) -> str:
    """Say that a run took another path than the baseline; empty where both measured one pair."""
    ours, theirs = run.pair, baseline.pair
    if ours.pk == theirs.pk:
        return ""
    if (ours.source_id, ours.sink_id) == (theirs.sink_id, theirs.source_id):
        text = _("Reverse direction of the baseline's path: %(pair)s instead of %(baseline)s.")
    elif (ours.source_id, ours.sink_id) == (theirs.source_id, theirs.sink_id):
        return ""
    else:
        text = _("Different path from the baseline: %(pair)s instead of %(baseline)s.")
    return text % {"pair": ours, "baseline": theirs}


def summary_words(counts: Mapping[str, int]) -> str:
    """Say how many measures came out how, the worst first; nothing where there is none."""
    phrases = [str(text) % {"count": counts[outcome]} for outcome, text in _OUTCOMES.items() if counts.get(outcome)]
    if not phrases:
        return ""
    return pgettext("between parts of a sentence", ", ").join(phrases) + pgettext("end of a sentence", ".")
