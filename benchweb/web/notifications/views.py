"""The page of notifications: channels with their last answers, rules, maintenance windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.notifications import selectors
from benchweb.notifications.kinds.table import CHANNEL_KINDS, stored_kind
from benchweb.notifications.models import Channel, DeliveryAttempt, MaintenanceWindow, Rule
from benchweb.regressions.models import Alert
from benchweb.web.notifications.forms import TRANSITIONS

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# Of windows that are over, of which there are ever more.
MOST_WINDOWS = 50
# Of channels and of rules; the API has all.
_MOST_ROWS = 500


@dataclass(frozen=True)
class ChannelRow:
    """A channel with the label of its kind and its last attempt."""

    channel: Channel
    kind: StrOrPromise
    last: DeliveryAttempt | None


@dataclass(frozen=True)
class RuleRow:
    """A rule with what it takes and when it sends, in words."""

    rule: Rule
    takes: str
    sends: str


@needs(Permission.READ)
@require_GET
def notifications(request: HttpRequest) -> HttpResponse:
    """Show who is notified of what, or with `archived` what is no longer in use."""
    archived = request.GET.get("archived") == "1"
    channels = list(Channel.objects.filter(archived_at__isnull=not archived)[:_MOST_ROWS])
    last = selectors.last_attempts([channel.pk for channel in channels])
    rules = Rule.objects.filter(archived_at__isnull=not archived).select_related("channel", "environment", "plan")
    windows = MaintenanceWindow.objects.filter(archived_at__isnull=not archived).select_related("host", "environment")
    context = {
        "channels": [
            ChannelRow(channel, stored_kind(channel.kind).label, last.get(channel.pk)) for channel in channels
        ],
        "kinds": [(kind.key, kind.label) for kind in CHANNEL_KINDS.values()],
        "rules": [RuleRow(rule, _takes(rule), _sends(rule)) for rule in rules[:_MOST_ROWS]],
        "windows": windows[:MOST_WINDOWS],
        "now": timezone.now(),
        "archived": archived,
    }
    return render(request, "notifications/notifications.html", context)


def _takes(rule: Rule) -> str:
    parts = [
        rule.environment.name if rule.environment else "",
        rule.plan.name if rule.plan else "",
        _("labelled {label}").format(label=rule.host_label) if rule.host_label else "",
        _("from {severity}").format(severity=rule.get_least_severity_display()),
        _in_words(rule.alert_kinds, Alert.Kind.choices),
        _in_words(rule.transitions, TRANSITIONS),
    ]
    return " · ".join(filter(None, parts))


def _in_words(words: Sequence[str], labels: Sequence[tuple[str, StrOrPromise]]) -> str:
    known = dict(labels)
    return ", ".join(str(known.get(word, word)) for word in words)


def _sends(rule: Rule) -> str:
    if rule.digest_at is not None:
        return _("digest at {time} {zone}").format(time=f"{rule.digest_at:%H:%M}", zone=rule.time_zone)
    if rule.quiet_from is None or rule.quiet_until is None:
        return _("at once")
    return _("at once, quiet {begin}–{end} {zone}").format(
        begin=f"{rule.quiet_from:%H:%M}", end=f"{rule.quiet_until:%H:%M}", zone=rule.time_zone
    )
