"""The bodies and answers about alerts."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any

from django.http import HttpRequest
from pydantic import BaseModel, Field

from benchweb.api.paging import PageQuery
from benchweb.api.schemas import Body, Identifier, Item, MomentText, RequestedIdentifier
from benchweb.catalog import catalog
from benchweb.common.addresses import site_path
from benchweb.regressions.alert_texts import alert_title, unconfirmed_reason
from benchweb.regressions.explanations import Explanation
from benchweb.regressions.models import Alert, AlertSeries, AlertTransition
from benchweb.regressions.outliers import NightOutlier
from benchweb.regressions.slow.told import SlowLine
from benchweb.regressions.transitions import MOST_CHARACTERS
from benchweb.regressions.why.deciding_runs import DecidingRun
from benchweb.regressions.why.evidence import Evidence, Why
from benchweb.regressions.why.sentences import conclusion_text, evidence_text

# Of an alert: more are counted.
MOST_SERIES = 500
MOST_TRANSITIONS = 500
Comment = Annotated[str, Field(max_length=MOST_CHARACTERS)]


class AlertMatch(BaseModel):
    """Without a state: those that are live (suspect, confirming, open, acknowledged); `all` is every state."""

    state: Annotated[str, Field(max_length=200)] = ""
    kind: Annotated[str, Field(max_length=20)] = ""
    environment: RequestedIdentifier = None
    host: RequestedIdentifier = None
    night: date | None = None
    severity: Annotated[str, Field(max_length=20)] = ""
    plan: RequestedIdentifier = None
    # Left out: whether they are snoozed or not.
    snoozed: bool | None = None


class AlertQuery(PageQuery, AlertMatch):
    """Which alerts, and which page of them."""


class CommentBody(Body):
    comment: Comment = ""


class RemarkBody(Body):
    comment: Comment = ""
    ticket_url: Annotated[str, Field(max_length=500)] | None = None


class SnoozeBody(CommentBody):
    """Until a time, until it gets worse, or the first of both."""

    until: MomentText | None = None
    until_worse: bool = False


class MergeBody(CommentBody):
    into: Identifier


class SplitBody(CommentBody):
    series: Annotated[list[Identifier], Field(min_length=1, max_length=MOST_SERIES)]


class AssignBody(CommentBody):
    """Without a user name: to nobody."""

    user: Annotated[str, Field(max_length=150)] | None


class AlertItem(Item):
    id: int
    url: str
    kind: str
    state: str
    severity: str
    title: str
    code: str
    params: dict[str, Any]
    size_ratio: float | None
    environment: int | None
    host: int | None
    pair: int | None
    endpoint: int | None
    plan: int | None
    schedule: int | None
    night: date
    begun_at: datetime
    created_at: datetime
    opened_at: datetime | None
    ended_at: datetime | None
    snoozed_until: datetime | None
    is_snoozed: bool
    snoozed_until_worse: bool
    merged_into: int | None
    assignee: str | None
    ticket_url: str
    verdict: str | None
    confirmation: int | None
    unconfirmed_reason: str
    series_count: int


class AlertSeriesItem(Item):
    series: int
    pair: int
    kind: str
    metric: str
    unit: str
    identity: dict[str, Any]
    before: float
    after: float
    difference_ratio: float | None
    interval_low_ratio: float | None
    interval_high_ratio: float | None
    p: float | None
    last_good_run: int | None
    first_bad_run: int
    rerun: int | None
    recovered_run: int | None


class TransitionItem(Item):
    at: datetime
    action: str
    by: str | None
    from_state: str | None
    to_state: str
    comment: str
    params: dict[str, Any]


class FactsItem(Item):
    host: int
    name: str
    changed: list[str]


class AnnotationItem(Item):
    id: int
    text: str
    at: datetime
    until: datetime | None
    author: str


class ExplanationItem(Item):
    """What else changed between the last good run and the first bad one."""

    facts: list[FactsItem]
    plan_version_before: int | None
    plan_version_after: int | None
    annotations: list[AnnotationItem]


class AlertDetail(AlertItem):
    series: list[AlertSeriesItem]
    explanation: ExplanationItem
    transitions: list[TransitionItem]


class PairCountItem(Item):
    """How many pairs, and how many of them got worse as the alert's did."""

    fell: int
    pairs: int


class EvidenceItem(Item):
    """A possible cause; changes are shares of the level, or in `unit` where `is_share` is false."""

    kind: str
    what: str
    hosts: list[int]
    exposed: PairCountItem
    unexposed: PairCountItem
    explained: PairCountItem
    elsewhere: int
    elsewhere_unchanged: int
    change: float
    interval_low: float | None
    interval_high: float | None
    p: float
    is_likely: bool
    text: str


class DecidingRunItem(Item):
    """A run that would tell more: this plan on this pair."""

    code: str
    pair: int
    plan: int
    seconds: float | None


class WhyItem(Item):
    """What may be why, the best evidence first; `conclusion` says what it comes to."""

    conclusion: str
    is_explained: bool
    # too_few, no_fall, unjudged; empty where evidence was weighed.
    unknown: str
    happened: int
    is_cut: bool
    pairs: int
    pairs_left_out: int
    is_share: bool
    unit: str
    ranked: list[EvidenceItem]
    ranked_left_out: int
    runs: list[DecidingRunItem]


def alert_fields(request: HttpRequest, alert: Alert) -> dict[str, Any]:
    """Return what every answer says of an alert."""
    same = (
        *("kind", "state", "severity", "code", "params", "size_ratio", "night", "begun_at", "created_at", "opened_at"),
        *("ended_at", "snoozed_until", "is_snoozed", "ticket_url"),
    )
    keys = ("environment", "host", "pair", "endpoint", "plan", "schedule", "confirmation", "merged_into")
    return {
        **{name: getattr(alert, name) for name in same},
        **{name: getattr(alert, f"{name}_id") for name in keys},
        "id": alert.pk,
        "url": request.build_absolute_uri(site_path(f"/api/v1/alerts/{alert.pk}")),
        "title": alert_title(alert),
        "assignee": alert.assignee.get_username() if alert.assignee else None,
        "snoozed_until_worse": alert.snoozed_rank is not None,
        "verdict": alert.verdict or None,
        "unconfirmed_reason": unconfirmed_reason(alert),
        "series_count": getattr(alert, "series_count", 0),
    }


def series_item(part: AlertSeries) -> AlertSeriesItem:
    """Show a series' part; it comes with its series."""
    metric = catalog().metrics.get(part.series.metric)
    return AlertSeriesItem(
        series=part.series_id,
        pair=part.series.pair_id,
        kind=part.series.kind,
        metric=part.series.metric,
        unit=metric.unit if metric else "",
        identity=part.series.identity,
        before=part.before,
        after=part.after,
        difference_ratio=part.difference_ratio,
        interval_low_ratio=part.interval_low_ratio,
        interval_high_ratio=part.interval_high_ratio,
        p=part.p,
        last_good_run=part.last_good_run_id,
        first_bad_run=part.first_bad_run_id,
        rerun=part.rerun_id,
        recovered_run=part.recovered_run_id,
    )


def transition_item(row: AlertTransition) -> TransitionItem:
    """Show a row of the history; it comes with who did it."""
    return TransitionItem(
        at=row.at,
        action=row.action,
        by=row.by.get_username() if row.by else None,
        from_state=row.from_state or None,
        to_state=row.to_state,
        comment=row.comment,
        params=row.params,
    )


def explanation_item(explanation: Explanation) -> ExplanationItem:
    """Show what else changed."""
    before, after = explanation.plan_versions or (None, None)
    return ExplanationItem(
        facts=[FactsItem(host=fact.host_id, name=fact.host, changed=list(fact.words)) for fact in explanation.facts],
        plan_version_before=before,
        plan_version_after=after,
        annotations=[
            AnnotationItem(id=note.pk, text=note.text, at=note.at, until=note.until, author=note.author)
            for note in explanation.annotations
        ],
    )


def why_item(why: Why, runs: Sequence[DecidingRun]) -> WhyItem:
    """Show what may be why, and the runs that would tell."""
    return WhyItem(
        conclusion=conclusion_text(why),
        is_explained=why.is_explained,
        unknown=why.unknown,
        happened=why.happened,
        is_cut=why.is_cut,
        pairs=why.pairs,
        pairs_left_out=why.pairs_left_out,
        is_share=why.is_share,
        unit=why.unit,
        ranked=[_evidence_item(evidence, why) for evidence in why.ranked],
        ranked_left_out=why.ranked_left_out,
        runs=[DecidingRunItem(code=run.code, pair=run.pair.pk, plan=run.plan_id, seconds=run.seconds) for run in runs],
    )


def _evidence_item(evidence: Evidence, why: Why) -> EvidenceItem:
    low, high = evidence.interval or (None, None)
    return EvidenceItem(
        kind=evidence.kind,
        what=str(evidence.words),
        hosts=sorted(evidence.hosts),
        exposed=PairCountItem(**vars(evidence.exposed)),
        unexposed=PairCountItem(**vars(evidence.unexposed)),
        explained=PairCountItem(**vars(evidence.explained)),
        elsewhere=evidence.elsewhere,
        elsewhere_unchanged=evidence.elsewhere_unchanged,
        change=evidence.change,
        interval_low=low,
        interval_high=high,
        p=evidence.p,
        is_likely=evidence.is_likely,
        text=evidence_text(evidence, why),
    )


class ChangeItem(Item):
    at: datetime
    run: int
    before: float
    after: float
    difference_ratio: float | None
    interval_low_ratio: float | None
    interval_high_ratio: float | None
    p: float


class SeriesChangesItem(Item):
    """The changes within the latest runs; `is_learning` says that there are too few runs to find any."""

    runs: int
    is_learning: bool
    changes: list[ChangeItem]
    smallest_detectable_change_ratio: float | None


class MeasureItem(Item):
    series: int
    kind: str
    metric: str
    difference_ratio: float | None
    interval_low_ratio: float | None
    interval_high_ratio: float | None
    p: float
    is_worse: bool


class DoubtItem(MeasureItem):
    # Of this run, or of both where the baseline is a single run: so many could tell.
    repetitions_needed: int


class VerdictItem(Item):
    verdict: str
    baseline_run: int | None
    compared: int
    changes: list[MeasureItem]
    # What makes it inconclusive.
    in_doubt: list[DoubtItem]
    smallest_detectable_change_ratio: float | None


class SlowChangeItem(Item):
    """What got worse slowly, and no alert tells: told once, by the series that names it and how many it has."""

    title: str
    environment: int
    # What its pairs have in common; None where that is not one host, or one pair with its other direction.
    host: int | None
    pair: int | None
    series_count: int
    series: int
    kind: str
    metric: str
    unit: str
    identity: dict[str, Any]
    is_drift: bool
    # The first night that is worse, and how many nights are known of the 90 looked at.
    since: date
    nights: int
    before: float
    after: float
    difference_ratio: float | None
    interval_low_ratio: float | None
    interval_high_ratio: float | None
    p: float


class OutlierItem(Item):
    """An environment's figure, the median over its pairs, beside the nights before it."""

    environment: int
    kind: str
    metric: str
    unit: str
    identity: dict[str, Any]
    median: float
    pairs: int
    usual: float
    difference_ratio: float | None


class NightItem(Item):
    night: date
    # From noon to noon by the clocks of this zone.
    timezone: str
    begins_at: datetime
    ends_at: datetime
    begun: list[AlertItem]
    # Open ones of the nights before, that nobody has dealt with.
    still_open: list[AlertItem]
    recovered: list[AlertItem]
    # Suspects: not measured again yet, or to no end; their `unconfirmed_reason` says why.
    unconfirmed: list[AlertItem]
    # Figures of environments that stand out for the worse, where no alert of the environment tells of it.
    outliers: list[OutlierItem]
    # What the second look of its morning found.
    slow_changes: list[SlowChangeItem]
    slots: int
    complete_slots: int
    # Those that ended, of which `finished_runs` have a whole result: a run counts in the night in which it began, or,
    # where it never did, ended. Those still open are counted apart.
    runs: int
    finished_runs: int
    open_runs: int
    smallest_detectable_change_ratio: float | None


def outlier_item(outlier: NightOutlier) -> OutlierItem:
    """Return what stands out in a night as the API tells it."""
    return OutlierItem(
        environment=outlier.environment_id,
        kind=outlier.kind.name,
        metric=outlier.metric.key,
        unit=outlier.metric.unit,
        identity=outlier.identity,
        median=outlier.median,
        pairs=outlier.pairs,
        usual=outlier.change.baseline,
        difference_ratio=outlier.change.ratio,
    )


def slow_change_item(line: SlowLine) -> SlowChangeItem:
    """Return a slow change as the API tells it."""
    names = ("since", "nights", "is_drift", "before", "after", "difference_ratio", "p")
    named, series = line.named, line.named.series
    return SlowChangeItem(
        title=line.title,
        environment=line.environment.pk,
        host=line.change.host_id,
        pair=line.change.pair_id,
        series_count=line.series_count,
        series=series.pk,
        kind=series.kind,
        metric=series.metric,
        unit=line.unit,
        identity=series.identity,
        interval_low_ratio=named.interval_low_ratio,
        interval_high_ratio=named.interval_high_ratio,
        **{name: getattr(named, name) for name in names},
    )
