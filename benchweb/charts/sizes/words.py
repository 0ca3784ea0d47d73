"""The sentences below the title of a chart by size: what its lines and points are, and what it leaves out."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from benchweb.catalog import Parameter
from benchweb.catalog.translation import sentence_space
from benchweb.charts.sizes.lines import SizeLines


def line_words(overlay: str, drawn: int, total: int, *, are_more_runs: bool) -> str:
    words = {
        "environment": _("A line for each environment"),
        "pair": _("A line for each pair"),
        "date": _("A line for each span of dates"),
        "run": _("A line for each of the latest runs; earlier runs match too")
        if are_more_runs
        else _("A line for each run"),
    }[overlay]
    left_out = _("%(drawn)s of %(total)s shown") % {"drawn": drawn, "total": total}
    if drawn < total:
        words += pgettext("between parts of a sentence", "; ") + left_out
    return words + pgettext("end of a sentence", ".")


def point_words(overlay: str, *, is_by_night: bool) -> str:
    if is_by_night:
        return _(
            "Each point is the median of the nights' medians, each over all runs of its night; the whiskers reach from "
            "the lowest to the highest of all repetitions."
        )
    if overlay == "run":
        return _(
            "Each point is the median of the run's repetitions; the whiskers reach from the lowest to the highest."
        )
    return _(
        "Each point is the median of the runs' medians; the whiskers reach from the lowest to the highest of all "
        "repetitions."
    )


def hollow_words() -> str:
    return sentence_space() + _("A dotted line marks sizes measured by fewer than half as many runs.")


def untold_words(rest: SizeLines, swept: Parameter) -> str:
    """Say how many imported tests are left out for want of a place on the axis."""
    untold = sum(line.identity.get(swept.name, swept.default) is None for line in rest.lines)
    if not untold:
        return ""
    words = ngettext(
        "%(count)s imported test has no known %(parameter)s and isn't drawn.",
        "%(count)s imported tests have no known %(parameter)s and aren't drawn.",
        untold,
    )
    return sentence_space() + words % {"count": f"{untold:,}", "parameter": swept.label.lower()}
