"""Offer what to do next about an alert: measure again, compare, open what it is about."""

from dataclasses import dataclass
from datetime import timedelta

from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.charts.comparison.sides import sides_query
from benchweb.documents.moments import rfc3339
from benchweb.regressions.models import Alert, AlertSeries

_COMPARED_BEFORE = timedelta(days=30)


@dataclass(frozen=True)
class NextSteps:
    """The run that may be launched again, and links with their labels: to comparisons, and to what is compared."""

    run_again_id: int | None
    comparisons: list[tuple[str, str]]
    links: list[tuple[str, str]]


def next_steps(alert: Alert, part: AlertSeries | None) -> NextSteps:
    """Return what to do about an alert; `part` is the series that it is named by, None where nothing was measured."""
    if part is None:
        return NextSteps(None, [], _absence_steps(alert))
    good, bad = part.last_good_run_id, part.first_bad_run_id
    comparisons, links = [], []
    if good:
        comparisons.append((_("the month before and everything since"), _before_and_after(alert, part)))
        runs = _("the last good run with the first bad one, {good} with {bad}").format(good=good, bad=bad)
        comparisons.append((runs, f"{reverse('web:compare')}?runs={good},{bad}"))
        links.append((_("Open the last good run"), reverse("web:run", args=[good])))
    links.append((_("Open the first bad run"), reverse("web:run", args=[bad])))
    if part.rerun_id:
        links.append((_("Open the run that measured again"), reverse("web:run", args=[part.rerun_id])))
    links.append((_("History of the series"), f"{reverse('web:history')}?series={part.series_id}"))
    if part.threshold_id:
        links.append((_("Edit the threshold"), reverse("web:threshold_edit", args=[part.threshold_id])))
    else:
        links.append((_("Add a threshold"), f"{reverse('web:threshold_new')}?series={part.series_id}"))
    return NextSteps(bad, comparisons, links)


def _before_and_after(alert: Alert, part: AlertSeries) -> str:
    """Return the page that compares the pair's runs of the month before an alert with those since."""
    pair, begun = str(part.series.pair_id), rfc3339(alert.begun_at)
    before = {"pair": pair, "from": rfc3339(alert.begun_at - _COMPARED_BEFORE), "to": begun}
    return f"{reverse('web:compare')}?{sides_query(before, {'pair': pair, 'from': begun})}"


def _absence_steps(alert: Alert) -> list[tuple[str, str]]:
    links = []
    if alert.pair_id:
        links.append((_("Open the pair"), reverse("web:pair", args=[alert.pair_id])))
        links.append((_("Runs of the pair"), f"{reverse('web:runs')}?pair={alert.pair_id}"))
    host_id = alert.endpoint.host_id if alert.endpoint is not None else alert.host_id
    if host_id is not None:
        links.append((_("Open the host"), reverse("web:host", args=[host_id])))
    if alert.schedule_id:
        links.append((_("Open the schedule"), reverse("web:schedule", args=[alert.schedule_id])))
    return links
