"""Prepare what may be why series fell: of an alert, or of several that fell together."""

from dataclasses import dataclass

from django.urls import reverse

from benchweb.notifications.maintenance import maintenance_about
from benchweb.regressions.models import Alert
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


def why_page(*alerts: Alert) -> WhyPage | None:
    """Return what the section shows of alerts, the worst first; None where they have no series."""
    why = why_of(*alerts, maintenance=maintenance_about(alerts))
    if why is None:
        return None
    rows = [WhyRow(evidence, evidence_text(evidence, why), chance_text(evidence, why)) for evidence in why.ranked]
    first = why.ranked[0] if why.ranked else None
    # A load is over by now, and of all hosts on its uplink: no other host is one without it.
    runs = [
        run
        for run in deciding_runs(alerts[0], first.hosts if first else {})
        if not (first and first.kind == "load" and run.code == "without")
    ]
    return WhyPage(
        why=why,
        conclusion=conclusion_text(why),
        likely=[row for row in rows if row.evidence.is_likely],
        unlikely=[row for row in rows if not row.evidence.is_likely],
        runs=[(run, str(DECIDING_SENTENCES[run.code]), _address(run)) for run in runs],
    )


def _address(run: DecidingRun) -> str:
    return f"{reverse('web:plan_launch', args=[run.plan_id])}?pairs={run.pair.pk}"
