"""Alert rules: which alerts go to which channel, and when."""

from datetime import datetime, time
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import BeforeValidator, Field

from benchweb.api.authentication import ADMIN, READ
from benchweb.api.paging import ArchivableQuery, Page, page
from benchweb.api.rows import row_named, row_or_404
from benchweb.api.schemas import Body, Identifier, Item, Name, RequestedIdentifier, given
from benchweb.hosts.models import Environment
from benchweb.notifications import services
from benchweb.notifications.models import Channel, Rule
from benchweb.notifications.naming import MOST_WORDS
from benchweb.notifications.services import RuleValues
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert

router = Router(tags=["notifications"])


def _time_of_day(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        value = time.fromisoformat(text)
    except ValueError:
        value = None
    if value is None or value.tzinfo is not None or value.second or value.microsecond:
        raise ValueError(f"{text[:40]!r} is no time of day, such as 07:30.")
    return value


TimeOfDay = Annotated[time, BeforeValidator(_time_of_day)]
Words = Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=MOST_WORDS)]
Label = Annotated[str, Field(max_length=60)]


class RuleChange(Body):
    """What is null, empty or left out holds for all."""

    name: Name = ""
    channel: Identifier = 0
    environment: Identifier | None = None
    plan: Identifier | None = None
    host_label: Label = ""
    least_severity: str = Alert.Severity.INFO.value
    alert_kinds: Words = []
    transitions: Words = []
    time_zone: Annotated[str, Field(max_length=60)] = "UTC"
    digest_at: TimeOfDay | None = None
    quiet_from: TimeOfDay | None = None
    quiet_until: TimeOfDay | None = None


class RuleBody(RuleChange):
    name: Name
    channel: Identifier


class RuleQuery(ArchivableQuery):
    channel: RequestedIdentifier = None


class RuleItem(Item):
    """Times of day are HH:MM in `time_zone`."""

    id: int
    name: str
    channel: int
    environment: int | None
    plan: int | None
    host_label: str
    least_severity: str
    alert_kinds: list[str]
    transitions: list[str]
    time_zone: str
    digest_at: str | None
    quiet_from: str | None
    quiet_until: str | None
    created_at: datetime
    archived_at: datetime | None


@router.get("/alert-rules", response=Page[RuleItem], auth=READ)
def alert_rule_list(request: HttpRequest, query: Query[RuleQuery]) -> Page[RuleItem]:
    """List rules by id. Filter `channel`."""
    rows = Rule.objects.filter(archived_at__isnull=not query.archived)
    return page(request, query, rows.filter(channel=query.channel) if query.channel else rows, _item)


@router.post("/alert-rules", response={201: RuleItem}, auth=ADMIN)
@transaction.atomic
def alert_rule_create(request: HttpRequest, body: RuleBody) -> Status[RuleItem]:
    """Create a rule: from now on what it names goes to its channel."""
    return Status(201, _item(services.rule_create(_values(body.model_dump()))))


@router.get("/alert-rules/{rule_id}", response=RuleItem, auth=READ)
def alert_rule_detail(request: HttpRequest, rule_id: Identifier) -> RuleItem:
    """Show a rule, archived or not."""
    return _item(row_or_404(Rule.objects.all(), rule_id))


@router.patch("/alert-rules/{rule_id}", response=RuleItem, auth=ADMIN)
@transaction.atomic
def alert_rule_update(request: HttpRequest, rule_id: Identifier, body: RuleChange) -> RuleItem:
    """Change what the body names; what waits already goes as it was to go."""
    rule = row_or_404(Rule.objects.all(), rule_id)
    current = {name: getattr(rule, name) for name in RuleBody.model_fields if name not in _ROWS}
    current |= {"channel": rule.channel_id, "environment": rule.environment_id, "plan": rule.plan_id}
    services.rule_update(rule=rule, values=_values(current | given(body)))
    return alert_rule_detail(request, rule_id)


@router.delete("/alert-rules/{rule_id}", response={204: None}, auth=ADMIN)
def alert_rule_archive(request: HttpRequest, rule_id: Identifier) -> Status[None]:
    """Archive a rule: nothing new goes by it."""
    services.archive(row=row_or_404(Rule.objects.all(), rule_id))
    return Status(204, None)


@router.post("/alert-rules/{rule_id}/restore", response=RuleItem, auth=ADMIN)
def alert_rule_restore(request: HttpRequest, rule_id: Identifier) -> RuleItem:
    """Bring an archived rule back; its channel must be in use."""
    services.restore(row=row_or_404(Rule.objects.select_related("channel"), rule_id))
    return alert_rule_detail(request, rule_id)


_ROWS = ("channel", "environment", "plan")


def _values(fields: dict[str, Any]) -> RuleValues:
    environment, plan = fields["environment"], fields["plan"]
    return RuleValues(
        **{name: value for name, value in fields.items() if name not in _ROWS},
        channel=row_named(Channel.objects.all(), fields["channel"], "channel"),
        environment=None if environment is None else row_named(Environment.objects.all(), environment, "environment"),
        plan=None if plan is None else row_named(Plan.objects.all(), plan, "plan"),
    )


def _item(rule: Rule) -> RuleItem:
    names = (
        "name",
        "host_label",
        "least_severity",
        "alert_kinds",
        "transitions",
        "time_zone",
        "created_at",
        "archived_at",
    )
    return RuleItem(
        id=rule.pk,
        channel=rule.channel_id,
        environment=rule.environment_id,
        plan=rule.plan_id,
        digest_at=_time_text(rule.digest_at),
        quiet_from=_time_text(rule.quiet_from),
        quiet_until=_time_text(rule.quiet_until),
        **{name: getattr(rule, name) for name in names},
    )


def _time_text(at: time | None) -> str | None:
    return None if at is None else f"{at:%H:%M}"
