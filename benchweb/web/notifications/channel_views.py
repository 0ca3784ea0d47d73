"""Channels: create, edit, archive, restore, test, and the log of what went there."""

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog.translation import reason_text
from benchweb.common.names import MAXIMUM_LENGTH, stored_name
from benchweb.notifications import channels, selectors
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.kinds.table import CHANNEL_KINDS, stored_kind
from benchweb.notifications.models import Channel, Delivery, DeliveryAttempt
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.site.values import site_setting
from benchweb.web.access.once import once
from benchweb.web.notifications.forms import ChannelForm, FirstRule, channel_form, new_channel_form
from benchweb.web.shared.edits import edits
from benchweb.web.shared.lists import Column, listing
from benchweb.web.shared.plain_pages import PlainPages

# Of a message; the API has more.
_MOST_ATTEMPTS = 20
_COLUMNS = [
    Column(gettext_noop("Message")),
    Column(gettext_noop("State")),
    Column(gettext_noop("Written"), "created_at"),
    Column(gettext_noop("Attempts")),
]


@dataclass(frozen=True)
class DeliveryRow:
    """A message with its attempts, the newest first."""

    delivery: Delivery
    title: str
    attempts: list[DeliveryAttempt]


@needs(Permission.READ)
@require_GET
def channel_page(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Show a channel and the log of its messages."""
    channel = get_object_or_404(Channel, pk=channel_id)
    page = listing(request, Delivery.objects.filter(channel=channel), columns=_COLUMNS, sort="-created_at")
    log = selectors.attempts_of([row.pk for row in page.rows], _MOST_ATTEMPTS)
    rows = [DeliveryRow(row, row.payload["data"]["title"], log.get(row.pk, [])) for row in page.rows]
    context = {"channel": channel, "kind": stored_kind(channel.kind).label, "page": page, "rows": rows}
    return render(request, "notifications/channel.html", context)


@needs(Permission.ADMIN)
@once
@require_http_methods(["GET", "POST"])
def channel_new(request: HttpRequest, kind: str) -> HttpResponse:
    """Create a channel of a kind."""
    if kind not in CHANNEL_KINDS:
        raise Http404(_("There is no such kind of channel."))
    stated = CHANNEL_KINDS[kind]
    form = new_channel_form(stated)(request.POST or None, initial={"name": str(stated.label).capitalize()})
    if request.method == "POST" and form.is_valid():
        try:
            channel = _channel_made(form, kind)
        except NotificationError as error:
            form.refuse(error.field.partition(".")[0], error.message)
        else:
            if request.POST.get("action") == "test":
                _tell_test(request, channel)
            return redirect("web:channel", channel.pk)
    context = {"form": form, "title": _("Add a channel: {kind}").format(kind=stated.label)}
    return render(request, "notifications/channel_new.html", context)


@needs(Permission.ADMIN)
@edits("channels", "channel_id")
@require_http_methods(["GET", "POST"])
def channel_edit(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Change a channel; a secret that is left empty stays."""
    channel = get_object_or_404(Channel, pk=channel_id, archived_at=None)
    form_class, back = channel_form(stored_kind(channel.kind)), reverse("web:channel", args=[channel.pk])
    current = form_class.of(channel)
    form = form_class(request.POST, is_stored=True) if request.method == "POST" else current
    is_current = form.note_opened(request.POST, current)
    if request.method == "POST" and form.is_valid() and is_current:
        try:
            channels.channel_update(
                channel=channel,
                name=form.cleaned_data["name"],
                settings=form.settings(channel.kind),
                enabled=channel.disabled_at is None,
            )
            return redirect(back)
        except NotificationError as error:
            form.refuse(error.field.partition(".")[0], error.message)
    return _form_page(request, form, _("Edit {name}").format(name=channel.name), back)


class ChannelPages(PlainPages[Channel]):
    """Channels; the log of what went there stays."""

    model, page_name = Channel, "channel"
    name, path, list_name = "channel", "notifications/channels", "notifications"
    permission = Permission.ADMIN
    noun = gettext_lazy("channel {name}")
    restored = gettext_lazy("Channel {name} is restored.")

    def losses(self, row: Channel) -> list[str]:
        return [
            _("Nothing is sent there any more; messages that wait are given up."),
            _("The log of what was sent stays."),
        ]

    def archive(self, row: Channel, by: User) -> None:
        channels.channel_archive(channel=row)

    def restore(self, row: Channel, request: HttpRequest) -> bool:
        return channels.channel_restore(channel=row)


@needs(Permission.ADMIN)
@once
@require_POST
def channel_test(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Send a test message, and say what the receiver answered; ten seconds at most."""
    channel = get_object_or_404(Channel, pk=channel_id, archived_at=None)
    _tell_test(request, channel)
    return redirect("web:channel", channel.pk)


@needs(Permission.ADMIN)
@require_POST
def channel_enable(request: HttpRequest, channel_id: int) -> HttpResponse:
    """Take up a disabled channel again."""
    channel = get_object_or_404(Channel, pk=channel_id, archived_at=None)
    channels.channel_enable(channel=channel)
    return redirect("web:channel", channel.pk)


@transaction.atomic
def _channel_made(form: ChannelForm, kind: str) -> Channel:
    """Create a channel with the rule that its form asks for."""
    channel = channels.channel_create(name=form.cleaned_data["name"], settings=form.settings(kind))
    if (severity := form.cleaned_data["rule"]) != FirstRule.NONE:
        name = _("{severity} to {channel}").format(severity=FirstRule(severity).label, channel=channel.name)
        zone = site_setting("DEFAULT_TIME_ZONE")
        rule_create(RuleValues(stored_name(name)[:MAXIMUM_LENGTH], channel, least_severity=severity, time_zone=zone))
    return channel


def _tell_test(request: HttpRequest, channel: Channel) -> None:
    """Send a test message, and say what the receiver answered."""
    attempt = channels.channel_test(channel=channel)
    answer = " ".join(str(part) for part in (attempt.status, attempt.words) if part)
    if attempt.error:
        text = _("The test failed: {error}").format(error=reason_text(attempt.why))
        messages.error(request, f"{text} {answer}" if attempt.words else text)
    else:
        messages.success(request, _("The receiver took the test: {answer}").format(answer=answer))


def _form_page(request: HttpRequest, form: ChannelForm, title: str, back: str) -> HttpResponse:
    context = {"form": form, "title": title, "back": back}
    return render(request, "shared/form.html", context, status=form.status)
