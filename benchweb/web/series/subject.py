"""What the page of a pair, host or environment begins with: its pictures, what changed, and its series if asked for."""

from collections.abc import Collection, Mapping

from django.http import HttpRequest

from benchweb.regressions.standing import alerts_of_subject, standing
from benchweb.results.series_summaries import SeriesScope
from benchweb.web.series.pictures import Pictures, environment_pictures, first_night, in_order, scope_pictures
from benchweb.web.series.section import series_section
from benchweb.web.series.standing import standing_lines


def subject_part(
    request: HttpRequest, of: Mapping[str, int], scope: SeriesScope, *, hosts: Collection[int] = ()
) -> dict[str, object]:
    """Return a page's beginning, `of` being its subject as an address names it; up to eight queries.

    Of a pair `hosts` are those of its ends.
    """
    found = standing(scope, alerts_of_subject(of, hosts), first_night())
    if not found.total:
        pictures = Pictures(of=of, figures=in_order({}))
    elif "environment" in of:
        pictures = environment_pictures(of["environment"], found.changes)
    else:
        pictures = scope_pictures(of, scope, found.changes)
    return {
        "pictures": pictures,
        "charts": pictures.charts("small"),
        "standing": standing_lines(found, of),
        "series": series_section(request, scope),
    }
