"""Alerts: what changed or is missing, and what people do about it."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status

from benchweb.api.authentication import READ, RUN, caller
from benchweb.api.paging import Page, page
from benchweb.api.problems import Problem, invalid
from benchweb.api.resources.alerts import feed
from benchweb.api.resources.alerts.schemas import (
    MOST_SERIES,
    MOST_TRANSITIONS,
    AlertDetail,
    AlertItem,
    AlertMatch,
    AlertQuery,
    AssignBody,
    CommentBody,
    MergeBody,
    RemarkBody,
    SnoozeBody,
    SplitBody,
    WhyItem,
    alert_fields,
    explanation_item,
    series_item,
    transition_item,
    why_item,
)
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Identifier
from benchweb.notifications.maintenance import maintenance_about
from benchweb.regressions import merging, transitions
from benchweb.regressions.explanations import explanation
from benchweb.regressions.handling import snoozes
from benchweb.regressions.handling.reopening import reopen
from benchweb.regressions.measuring import measure_again_anyway
from benchweb.regressions.models import LIVE_STATES, Alert
from benchweb.regressions.selectors import AlertFilters, alerts, alerts_matching, environments_of_alert
from benchweb.regressions.why.deciding_runs import deciding_runs
from benchweb.regressions.why.evidence import why_of

router = Router(tags=["alerts"])
_ATOM = {"responses": {200: {"content": {"application/atom+xml": {"schema": {"type": "string"}}}}}}


@router.get("/alerts", response=Page[AlertItem], auth=READ)
def alert_list(request: HttpRequest, query: Query[AlertQuery]) -> Page[AlertItem]:
    """List alerts, the newest first; `state` is one or several with commas between, or `all`."""
    rows = alerts_matching(_filters(query))
    return page(request, query, rows, lambda alert: AlertItem(**alert_fields(request, alert)), newest_first=True)


@router.get("/alerts.atom", response={200: None}, openapi_extra=_ATOM, auth=READ)
def alert_feed(request: HttpRequest, query: Query[AlertMatch]) -> HttpResponse:
    """Follow the newest hundred alerts that people were told of, as Atom; without `state` in every state."""
    chosen = query.model_copy(update={"state": query.state or "all"})
    return HttpResponse(feed.atom(request, alerts_matching(_filters(chosen))), content_type=feed.MEDIA_TYPE)


def _filters(query: AlertMatch) -> AlertFilters:
    return AlertFilters(
        states=_states(query.state),
        environment=query.environment,
        host=query.host,
        kind=_one_of("kind", query.kind, Alert.Kind.values),
        severity=_one_of("severity", query.severity, Alert.Severity.values),
        plan=query.plan,
        night=query.night,
        snoozed=query.snoozed,
    )


@router.get("/alerts/{alert_id}", response=AlertDetail, auth=READ)
def alert_get(request: HttpRequest, alert_id: Identifier) -> AlertDetail:
    """Show an alert with its series, what else changed when it began, and its history."""
    alert = row_or_404(alerts(), alert_id)
    parts = alert.series.select_related("series").order_by("pk")[:MOST_SERIES]
    history = list(alert.transitions.select_related("by").order_by("-pk")[:MOST_TRANSITIONS])[::-1]
    return AlertDetail(
        **alert_fields(request, alert),
        series=[series_item(part) for part in parts],
        explanation=explanation_item(explanation(alert)),
        transitions=[transition_item(row) for row in history],
    )


@router.get("/alerts/{alert_id}/why", response=WhyItem, auth=READ)
def alert_why(request: HttpRequest, alert_id: Identifier) -> WhyItem:
    """Weigh what may be why its series fell, by all hosts and nights; 404 of an alert without series."""
    alert = row_or_404(alerts(), alert_id)
    why = why_of(alert, maintenance=maintenance_about([alert]))
    if why is None:
        raise Problem(404, "Nothing was measured of this alert, so there is nothing to compare with other pairs.")
    hosts = why.ranked[0].hosts if why.ranked else {}
    return why_item(why, deciding_runs(alert, hosts))


@router.post("/alerts/{alert_id}/acknowledge", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_acknowledge(request: HttpRequest, alert_id: Identifier, body: CommentBody) -> AlertDetail:
    """Take it as known: the same segment never alerts again."""
    row_or_404(alerts(), alert_id)
    transitions.acknowledge(alert_id=alert_id, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/expected", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_expect(request: HttpRequest, alert_id: Identifier, body: CommentBody) -> AlertDetail:
    """Take the new level as the baseline."""
    row_or_404(alerts(), alert_id)
    transitions.expect(alert_id=alert_id, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/invalid", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_invalidate(request: HttpRequest, alert_id: Identifier, body: CommentBody) -> AlertDetail:
    """Call it noise: its series tell no more of changes as small."""
    row_or_404(alerts(), alert_id)
    transitions.invalidate(alert_id=alert_id, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/fixed", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_fix(request: HttpRequest, alert_id: Identifier, body: CommentBody) -> AlertDetail:
    """Call its cause fixed."""
    row_or_404(alerts(), alert_id)
    transitions.fix(alert_id=alert_id, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/reopen", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_reopen(request: HttpRequest, alert_id: Identifier, body: CommentBody) -> AlertDetail:
    """Open it again: it was acknowledged, expected, noise or fixed by mistake."""
    row_or_404(alerts(), alert_id)
    reopen(alert_id=alert_id, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/snooze", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_snooze(request: HttpRequest, alert_id: Identifier, body: SnoozeBody) -> AlertDetail:
    """Hide it until a time, until it gets worse, or the first of both."""
    row_or_404(alerts(), alert_id)
    ends: dict[str, Any] = {"until": body.until, "until_worse": body.until_worse}
    snoozes.snooze(alert_id=alert_id, **ends, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/measure-again", response={202: AlertDetail}, auth=RUN.within(environments_of_alert))
def alert_measure_again(request: HttpRequest, alert_id: Identifier, body: CommentBody) -> Status[AlertDetail]:
    """Measure a suspect again now, whatever time its schedule has left for re-runs; 409 for what is no suspect."""
    row_or_404(alerts(), alert_id)
    measure_again_anyway(alert_id=alert_id, by=caller(request), comment=body.comment)
    return Status(202, alert_get(request, alert_id))


@router.post("/alerts/{alert_id}/wake", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_wake(request: HttpRequest, alert_id: Identifier, body: CommentBody) -> AlertDetail:
    """End its snooze now."""
    row_or_404(alerts(), alert_id)
    snoozes.wake(alert_id=alert_id, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/merge", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_merge(request: HttpRequest, alert_id: Identifier, body: MergeBody) -> AlertDetail:
    """Move its series to the alert `into` and end it; return the alert `into`."""
    row_or_404(alerts(), alert_id)
    merging.merge(alert_id=alert_id, into=body.into, by=caller(request), comment=body.comment)
    return alert_get(request, body.into)


@router.post("/alerts/{alert_id}/split", response={201: AlertDetail}, auth=RUN.within(environments_of_alert))
def alert_split(request: HttpRequest, alert_id: Identifier, body: SplitBody) -> Status[AlertDetail]:
    """Move some of its series to a new alert; return the new one."""
    row_or_404(alerts(), alert_id)
    new = merging.split(alert_id=alert_id, series=body.series, by=caller(request), comment=body.comment)
    return Status(201, alert_get(request, new.pk))


@router.post("/alerts/{alert_id}/comment", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_comment(request: HttpRequest, alert_id: Identifier, body: RemarkBody) -> AlertDetail:
    """Add a comment, and with `ticket_url` the address of a ticket; an empty one takes that away."""
    row_or_404(alerts(), alert_id)
    transitions.remark(alert_id=alert_id, comment=body.comment, by=caller(request), ticket_url=body.ticket_url)
    return alert_get(request, alert_id)


@router.post("/alerts/{alert_id}/assign", response=AlertDetail, auth=RUN.within(environments_of_alert))
def alert_assign(request: HttpRequest, alert_id: Identifier, body: AssignBody) -> AlertDetail:
    """Give it to the user of that name, or to nobody."""
    row_or_404(alerts(), alert_id)
    assignee = _assignee(body.user)
    transitions.assign(alert_id=alert_id, assignee=assignee, by=caller(request), comment=body.comment)
    return alert_get(request, alert_id)


def _states(text: str) -> tuple[str, ...]:
    if not text:
        return LIVE_STATES
    if text == "all":
        return tuple(Alert.State.values)
    states = tuple(text.split(","))
    unknown = next((state for state in states if state not in Alert.State.values), None)
    if unknown is not None:
        known = ", ".join(Alert.State.values)
        raise invalid("state", f"{unknown[:60]!r} is no state of an alert; there are: {known}; or all.")
    return states


def _one_of(name: str, text: str, known: list[str]) -> str:
    if text and text not in known:
        raise invalid(name, f"{text!r} is no {name} of alerts; there are: {', '.join(known)}.")
    return text


def _assignee(name: str | None) -> User | None:
    if name is None:
        return None
    user = User.objects.filter(username=name, is_active=True).first() if name.isprintable() else None
    if user is None:
        raise invalid("user", f"There is no user {name[:60]!r}.")
    return user
