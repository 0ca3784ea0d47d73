"""What to do next about an alert: measure again, compare, open what it is about."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.regressions.models import Alert, AlertSeries


@dataclass(frozen=True)
class NextSteps:
    """The run that may be launched again, and links with their labels."""

    run_again_id: int | None
    links: list[tuple[str, str]]


def next_steps(alert: Alert, part: AlertSeries | None) -> NextSteps:
    """Return what to do about an alert; `part` is the series that it is named by, None where nothing was measured."""
    if part is None:
        return NextSteps(None, _of_absence(alert))
    good, bad = part.last_good_run_id, part.first_bad_run_id
    links = []
    if good:
        links.append((_("Compare the two runs"), f"{reverse('web:compare')}?runs={good},{bad}"))
        links.append((_("Open the last good run"), reverse("web:run", args=[good])))
    links.append((_("Open the first bad run"), reverse("web:run", args=[bad])))
    if part.rerun_id:
        links.append((_("Open the run that measured again"), reverse("web:run", args=[part.rerun_id])))
    links.append((_("History of the series"), f"{reverse('web:history')}?series={part.series_id}"))
    return NextSteps(bad, links)


def naming_part(alert: Alert, parts: list[AlertSeries]) -> AlertSeries | None:
    """Return the series that an alert is named by: of its metric the one that changed most, else of all."""
    return max(parts, key=lambda part: (_is_named(alert, part), abs(part.difference_ratio or 0.0)), default=None)


def _is_named(alert: Alert, part: AlertSeries) -> bool:
    series = part.series
    return (series.kind, series.metric) == (alert.params.get("kind"), alert.params.get("metric"))


def _of_absence(alert: Alert) -> list[tuple[str, str]]:
    links = []
    if alert.pair_id:
        links.append((_("Open the pair"), reverse("web:pair", args=[alert.pair_id])))
        links.append((_("Runs of the pair"), f"{reverse('web:runs')}?pair={alert.pair_id}"))
    if alert.endpoint is not None:
        links.append((_("Open the host"), reverse("web:host", args=[alert.endpoint.host_id])))
    if alert.schedule_id:
        links.append((_("Open the schedule"), reverse("web:schedule", args=[alert.schedule_id])))
    return links
