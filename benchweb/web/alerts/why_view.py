"""Why an alert may be: what goes together with its fall, asked for by itself as it takes longer than a page."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import alerts as named_alerts
from benchweb.regressions.why.deciding_runs import DECIDING_SENTENCES, DecidingRun, deciding_runs
from benchweb.regressions.why.evidence import Evidence, Why, why_of
from benchweb.regressions.why.sentences import chance_text, conclusion_text, evidence_text


@dataclass(frozen=True)
class WhyRow:
    """A possible cause with its evidence in words."""

    evidence: Evidence
    text: str
    chance: str


@dataclass(frozen=True)
class WhyPage:
    """What may be why: what goes together with the fall, what chance does as well, and the runs that would tell."""

    alert: Alert
    why: Why
    conclusion: str
    likely: list[WhyRow]
    unlikely: list[WhyRow]
    # With what is learnt from each, and where it is launched.
    runs: list[tuple[DecidingRun, str, str]]

    @property
    def seconds(self) -> float | None:
        """Return how long the alert's own run took, None where that isn't known."""
        return self.runs[0][0].seconds if self.runs else None


def why_page(alert: Alert) -> WhyPage | None:
    """Return what the section shows; None of an alert without series."""
    why = why_of(alert)
    if why is None:
        return None
    rows = [
        WhyRow(evidence, evidence_text(evidence, why.unit), chance_text(evidence, why.unit)) for evidence in why.ranked
    ]
    hosts = why.ranked[0].hosts if why.ranked else {}
    return WhyPage(
        alert=alert,
        why=why,
        conclusion=conclusion_text(why),
        likely=[row for row in rows if row.evidence.is_likely],
        unlikely=[row for row in rows if not row.evidence.is_likely],
        runs=[(run, str(DECIDING_SENTENCES[run.code]), _address(run)) for run in deciding_runs(alert, hosts)],
    )


@needs(Permission.READ)
@require_GET
def alert_why(request: HttpRequest, alert_id: int) -> HttpResponse:
    """Show what may be why: as a part of the alert's page, or as a page of its own."""
    alert = get_object_or_404(named_alerts(), pk=alert_id)
    template = "alerts/partials/why.html" if request.headers.get("HX-Request") else "alerts/why.html"
    return render(request, template, {"page": why_page(alert), "title": alert_title(alert), "alert": alert})


def _address(run: DecidingRun) -> str:
    return f"{reverse('web:plan_launch', args=[run.plan_id])}?pairs={run.pair.pk}"
