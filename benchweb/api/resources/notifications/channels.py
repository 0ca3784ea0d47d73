"""Channels: ways to reach people; secrets go in and never come out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import ADMIN, READ
from benchweb.api.paging import ArchivableQuery, Page, PageQuery, page_of
from benchweb.api.rows import row_or_404
from benchweb.api.schemas import Body, Identifier, Item, Name
from benchweb.catalog.reasons import reason_items
from benchweb.notifications import channels, selectors
from benchweb.notifications.kinds.email.kind import MOST_RECIPIENTS
from benchweb.notifications.kinds.kind import MOST_ADDRESS_CHARACTERS, ChannelSettings
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt

router = Router(tags=["notifications"])
Address = Annotated[str, Field(max_length=MOST_ADDRESS_CHARACTERS)]
Recipients = Annotated[list[Annotated[str, Field(max_length=320)]], Field(max_length=MOST_RECIPIENTS)]
# Of a message in the list; `attempts` says how many there were.
MOST_ATTEMPTS = 20


class ChannelBody(Body):
    """`to` is for e-mail, `url` and `secret` for a webhook, `secret` alone, an Apprise address, for a messenger."""

    name: Name
    kind: str
    to: Recipients = []
    url: Address = ""
    secret: Address = ""


class ChannelChange(Body):
    name: Name | None = None
    to: Recipients | None = None
    url: Address | None = None
    secret: Address = ""
    enabled: bool | None = None


class AttemptItem(Item):
    number: int
    begun_at: datetime
    # Null while it is under way, and when whoever made it was killed.
    finished_at: datetime | None
    status: int | None
    answer: str
    error: str
    error_code: str | None
    error_params: dict[str, Any] | None


class ChannelItem(Item):
    """`service` is what an Apprise address names; `last_attempt` tells the last answer, or is null."""

    id: int
    name: str
    kind: str
    to: list[str]
    url: str
    service: str
    has_secret: bool
    disabled_at: datetime | None
    disabled_reason: str
    disabled_reason_code: str | None
    disabled_reason_params: dict[str, Any] | None
    last_attempt: AttemptItem | None
    created_at: datetime
    archived_at: datetime | None


class TestItem(Item):
    """What the receiver answered to a test; `message_id` is what it got it by."""

    delivered: bool
    message_id: str
    attempt: AttemptItem


class DeliveryItem(Item):
    id: int
    event_id: str
    message_id: str
    state: str
    reason: str
    reason_code: str | None
    reason_params: dict[str, Any] | None
    rule: int | None
    # The message of a digest that it went into.
    digest: int | None
    created_at: datetime
    next_attempt_at: datetime | None
    finished_at: datetime | None
    attempts: int
    payload: dict[str, Any]
    # Of a mail that a server answered to, by address: taken, refused or waiting, and its answer where it refused.
    recipients: dict[str, dict[str, str]]
    # The newest first.
    log: list[AttemptItem]


class DeliveryQuery(PageQuery):
    state: Annotated[str, Field(max_length=20)] = ""


@router.get("/channels", response=Page[ChannelItem], auth=READ)
def channel_list(request: HttpRequest, query: Query[ArchivableQuery]) -> Page[ChannelItem]:
    """List channels by id, each with its last answer."""
    rows = Channel.objects.filter(archived_at__isnull=not query.archived)
    return page_of(request, query, rows, _items)


@router.post("/channels", response={201: ChannelItem}, auth=ADMIN)
def channel_create(request: HttpRequest, body: ChannelBody) -> Status[ChannelItem]:
    """Create a channel; nothing is sent yet, see `test`."""
    settings = ChannelSettings(kind=body.kind, to=body.to, url=body.url, secret=body.secret)
    return Status(201, _items([channels.channel_create(name=body.name, settings=settings)])[0])


@router.get("/channels/{channel_id}", response=ChannelItem, auth=READ)
def channel_detail(request: HttpRequest, channel_id: Identifier) -> ChannelItem:
    """Show a channel, archived or not."""
    return _items([row_or_404(Channel.objects.all(), channel_id)])[0]


@router.patch("/channels/{channel_id}", response=ChannelItem, auth=ADMIN)
@transaction.atomic
def channel_update(request: HttpRequest, channel_id: Identifier, body: ChannelChange) -> ChannelItem:
    """Change what the body names; a secret that isn't named stays. `enabled` true takes up a disabled channel again."""
    channel = row_or_404(Channel.objects.all(), channel_id)
    settings = ChannelSettings(
        kind=channel.kind,
        to=channel.config.get("to", []) if body.to is None else body.to,
        url=channel.config.get("url", "") if body.url is None else body.url,
        secret=body.secret,
    )
    name = channel.name if body.name is None else body.name
    enabled = channel.disabled_at is None if body.enabled is None else body.enabled
    channels.channel_update(channel=channel, name=name, settings=settings, enabled=enabled)
    return channel_detail(request, channel_id)


@router.delete("/channels/{channel_id}", response={204: None}, auth=ADMIN)
def channel_archive(request: HttpRequest, channel_id: Identifier) -> Status[None]:
    """Archive a channel: nothing goes there any more, its log stays."""
    channels.channel_archive(channel=row_or_404(Channel.objects.all(), channel_id))
    return Status(204, None)


@router.post("/channels/{channel_id}/restore", response=ChannelItem, auth=ADMIN)
def channel_restore(request: HttpRequest, channel_id: Identifier) -> ChannelItem:
    """Bring an archived channel back: it takes what happens from now on."""
    channels.channel_restore(channel=row_or_404(Channel.objects.all(), channel_id))
    return channel_detail(request, channel_id)


@router.post("/channels/{channel_id}/test", response=TestItem, auth=ADMIN)
def channel_test(request: HttpRequest, channel_id: Identifier) -> TestItem:
    """Send a test message now and answer with what the receiver said, within 10 seconds."""
    attempt = channels.channel_test(channel=row_or_404(Channel.objects.filter(archived_at=None), channel_id))
    return TestItem(delivered=not attempt.error, message_id=attempt.delivery.message_id, attempt=_attempt(attempt))


@router.get("/channels/{channel_id}/deliveries", response=Page[DeliveryItem], auth=READ)
def channel_deliveries(request: HttpRequest, channel_id: Identifier, query: Query[DeliveryQuery]) -> Page[DeliveryItem]:
    """List a channel's messages, the newest first, with every attempt. Filter `state`."""
    row_or_404(Channel.objects.all(), channel_id)
    rows = Delivery.objects.filter(channel=channel_id)
    rows = rows.filter(state=query.state) if query.state else rows
    return page_of(request, query, rows, _deliveries, newest_first=True)


def _items(rows: Sequence[Channel]) -> list[ChannelItem]:
    last = selectors.last_attempts([row.pk for row in rows])
    return [_item(row, last.get(row.pk)) for row in rows]


def _item(channel: Channel, last: DeliveryAttempt | None) -> ChannelItem:
    return ChannelItem(
        id=channel.pk,
        name=channel.name,
        kind=channel.kind,
        to=channel.config.get("to", []),
        url=channel.config.get("url", ""),
        service=channel.config.get("schema", ""),
        has_secret=bool(channel.secret_encrypted),
        disabled_at=channel.disabled_at,
        **reason_items("disabled_reason", channel.disabled_why),
        last_attempt=_attempt(last) if last else None,
        created_at=channel.created_at,
        archived_at=channel.archived_at,
    )


def _attempt(attempt: DeliveryAttempt) -> AttemptItem:
    names = ("number", "begun_at", "finished_at", "status", "answer")
    values = {name: getattr(attempt, name) for name in names}
    return AttemptItem(**values, **reason_items("error", attempt.why))


def _deliveries(rows: list[Delivery]) -> list[DeliveryItem]:
    log = selectors.attempts_of([row.pk for row in rows], MOST_ATTEMPTS)
    names = ("event_id", "message_id", "state", "created_at", "next_attempt_at", "finished_at", "attempts")
    return [
        DeliveryItem(
            id=row.pk,
            rule=row.rule_id,
            digest=row.digest_id,
            payload=row.payload,
            recipients=row.recipients,
            log=[_attempt(attempt) for attempt in log.get(row.pk, [])],
            **reason_items("reason", row.why),
            **{name: getattr(row, name) for name in names},
        )
        for row in rows
    ]
