"""The list of alerts: filtered by the address, worst first, grouped on request."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment, Host
from benchweb.plans.selectors import plans_matching
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import LIVE_STATES, UNTRIAGED_STATES, Alert
from benchweb.regressions.selectors import AlertFilters, alerts_matching
from benchweb.web.alerts.page import percent
from benchweb.web.shared.chips import Filter, FilterLine
from benchweb.web.shared.lists import Column, Heading, Listing, listing

COLUMNS = [
    Column(gettext_noop("Alert")),
    Column(gettext_noop("Severity"), "rank"),
    Column(gettext_noop("State")),
    Column(gettext_noop("Change"), numeric=True),
    Column(gettext_noop("Series"), numeric=True),
    Column(gettext_noop("Began"), "begun_at"),
    Column(gettext_noop("Assigned to")),
]
FILTERS = ("state", "severity", "kind", "environment", "host", "plan", "night", "group")
# A grouped list has no pages: of more, the worst.
MOST_GROUPED = 500
# No state of an alert, but a choice beside them: the live ones that are hidden.
_SNOOZED = "snoozed"
# Of hosts, environments and plans to choose from.
_MOST_CHOICES = 2_000


@dataclass(frozen=True)
class AlertRow:
    """An alert with its title and the size of its change in words."""

    alert: Alert
    title: str
    change: str


@dataclass(frozen=True)
class AlertGroup:
    """Alerts that have something in common; `url` shows these alone, and is empty where no filter can."""

    title: str
    url: str
    rows: list[AlertRow]


def alert_list(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the list that an address means."""
    query = request.GET
    alerts = alerts_matching(filters_of(query))
    group = _GROUPS.get(query.get("group", ""))
    page = (
        _worst(request, alerts) if group else listing(request, alerts, columns=COLUMNS, sort="-rank", filters=FILTERS)
    )
    rows = [AlertRow(alert, alert_title(alert), percent(alert.params.get("ratio"))) for alert in page.rows]
    return {
        "page": page,
        "groups": _alert_groups(rows, group, query) if group else [AlertGroup("", "", rows)],
        "most_grouped": MOST_GROUPED if group and len(rows) == MOST_GROUPED else None,
        "query": query.urlencode(),
        "filters": _filter_line(query, page.filters),
    }


def filters_of(query: QueryDict) -> AlertFilters:
    """Return which alerts an address means; what can't be read filters nothing."""
    ids = {name: row_id(query.get(name, "")) for name in ("environment", "host", "plan")}
    kind, severity = query.get("kind", ""), query.get("severity", "")
    return AlertFilters(
        states=_states(query.get("state", "")),
        snoozed={"": False, _SNOOZED: True}.get(query.get("state", "")),
        kind=kind if kind in Alert.Kind.values else "",
        severity=severity if severity in Alert.Severity.values else "",
        night=_night(query.get("night", "")),
        **ids,
    )


def _states(text: str) -> tuple[str, ...]:
    named = {"all": tuple(Alert.State.values), "live": LIVE_STATES, _SNOOZED: LIVE_STATES}
    return named.get(text, (text,) if text in Alert.State.values else UNTRIAGED_STATES)


def _night(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _worst(request: HttpRequest, alerts: Any) -> Listing[Alert]:
    rows = list(alerts.order_by("-rank", "-pk")[:MOST_GROUPED])
    values = {name: request.GET.get(name, "") for name in FILTERS}
    return Listing(
        rows=rows,
        headings=[Heading(_(column.label), column.numeric, url="", direction="none") for column in COLUMNS],
        filters=values,
        filtered=any(value for name, value in values.items() if name != "group"),
        next_url="",
        previous_url="",
        first_url="",
        total=len(rows),
        most_counted=MOST_GROUPED,
    )


def _alert_groups(rows: Iterable[AlertRow], group: "_Group", query: QueryDict) -> list[AlertGroup]:
    """Group rows that come worst first: groups are in the order of their worst alert."""
    groups: dict[str, list[AlertRow]] = {}
    for row in rows:
        groups.setdefault(group.value(row.alert), []).append(row)
    return [
        AlertGroup(group.title(alerts[0].alert) or group.nothing(), _only(query, group.name, value), alerts)
        for value, alerts in groups.items()
    ]


def _only(query: QueryDict, name: str, value: str) -> str:
    if not value:
        return ""
    only = query.copy()
    only.pop("group", None)
    only[name] = value
    return f"?{only.urlencode()}"


@dataclass(frozen=True)
class _Group:
    """What alerts are grouped by: the filter's name, its value for an alert, and words."""

    name: str
    value: Callable[[Alert], str]
    title: Callable[[Alert], str]
    nothing: Callable[[], str]


def _host(alert: Alert) -> Host | None:
    return alert.host or (alert.endpoint.host if alert.endpoint else None)


def _host_value(alert: Alert) -> str:
    host = _host(alert)
    return str(host.pk) if host else ""


_GROUPS = {
    "host": _Group("host", _host_value, lambda alert: str(_host(alert) or ""), lambda: _("No single host")),
    "environment": _Group(
        "environment",
        lambda alert: str(alert.environment_id or ""),
        lambda alert: str(alert.environment or ""),
        lambda: _("No single environment"),
    ),
    "night": _Group(
        "night",
        lambda alert: alert.night.isoformat(),
        lambda alert: _("Night of {night}").format(night=date_format(alert.night, "Y-m-d")),
        lambda: "",
    ),
}


def _filter_line(query: QueryDict, chosen: Mapping[str, str]) -> FilterLine:
    """Declare the filters, those that a list mostly is narrowed by in the sentence; three queries."""
    states = [("live", _("open and acknowledged")), (_SNOOZED, _("snoozed")), ("all", _("all states"))]
    groups = [("host", _("Host")), ("environment", _("Environment")), ("night", _("Night"))]
    environments, hosts, plans = (
        _named_choices(rows)
        for rows in (
            Environment.objects.filter(archived_at=None),
            Host.objects.filter(archived_at=None),
            plans_matching(),
        )
    )
    offered = [
        Filter("state", _("State"), options=[*states, *_said(Alert.State.choices)], any=_("open alerts"), is_main=True),
        Filter("severity", _("Severity"), options=_said(Alert.Severity.choices), any=_("any severity"), is_main=True),
        Filter("environment", _("Environment"), options=environments, any=_("any environment"), is_main=True),
        Filter("kind", _("Kind"), options=_said(Alert.Kind.choices), any=_("any kind")),
        Filter("host", _("Host"), options=hosts, any=_("any host")),
        Filter("plan", _("Plan"), options=plans, any=_("any plan")),
        Filter("night", _("Night in which it began, named by its end"), form="date", lead=_("Night")),
        Filter("group", _("Group by"), options=groups, any=_("not grouped"), lead=_("by")),
    ]
    sort = query.get("sort", "")
    return FilterLine(
        reverse("web:alerts"),
        "#alerts-page",
        [replace(each, chosen=chosen[each.name]) for each in offered],
        carried=[("sort", sort)] if sort else [],
    )


def _said(choices: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(value, str(words)) for value, words in choices]


def _named_choices(rows: Any) -> list[tuple[str, str]]:
    return [(str(pk), name) for pk, name in rows.order_by("name").values_list("pk", "name")[:_MOST_CHOICES]]
