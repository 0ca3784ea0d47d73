"""Write rules and maintenance windows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.hosts.models import Archivable, Environment, Host
from benchweb.notifications.errors import NotificationError
from benchweb.notifications.models import Channel, MaintenanceWindow, Rule
from benchweb.notifications.naming import checked_label, checked_name, checked_words
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert
from benchweb.schedules.errors import TimingError
from benchweb.schedules.timing.localtime import zone_checked


@dataclass(frozen=True)
class RuleValues:
    """All that a rule says."""

    name: str
    channel: Channel
    environment: Environment | None = None
    plan: Plan | None = None
    host_label: str = ""
    least_severity: str = Alert.Severity.INFO
    alert_kinds: Sequence[str] = ()
    transitions: Sequence[str] = ()
    time_zone: str = "UTC"
    digest_at: time | None = None
    quiet_from: time | None = None
    quiet_until: time | None = None


def rule_create(values: RuleValues) -> Rule:
    """Create a rule."""
    return Rule.objects.create(**_rule_fields(values))


def rule_update(*, rule: Rule, values: RuleValues) -> None:
    """Change a rule; what is in the outbox already goes as it was to go."""
    Rule.objects.filter(pk=rule.pk).update(**_rule_fields(values))


@dataclass(frozen=True)
class WindowValues:
    """All that a maintenance window says; it is of one of host, label and environment."""

    name: str
    begins_at: datetime
    ends_at: datetime
    host: Host | None = None
    host_label: str = ""
    environment: Environment | None = None


def window_create(values: WindowValues, *, user: User | None = None) -> MaintenanceWindow:
    """Create a maintenance window, which may have begun already: it mutes what happens from now on."""
    return MaintenanceWindow.objects.create(created_by=user, **_window_fields(values))


def window_update(*, window: MaintenanceWindow, values: WindowValues) -> None:
    """Change a maintenance window; what it has muted stays so."""
    MaintenanceWindow.objects.filter(pk=window.pk).update(**_window_fields(values))


def archive(*, row: Archivable) -> None:
    """Archive a rule or a maintenance window; again is no error."""
    type(row)._default_manager.filter(pk=row.pk, archived_at=None).update(archived_at=timezone.now())


def restore(*, row: Rule | MaintenanceWindow) -> bool:
    """Bring an archived rule or maintenance window back; refused where the channel of a rule is archived."""
    if isinstance(row, Rule) and row.channel.archived_at is not None:
        refusal = _("The channel {channel} is archived: restore it first.")
        raise NotificationError("channel", refusal.format(channel=row.channel.name))
    archived = type(row)._default_manager.filter(pk=row.pk).exclude(archived_at=None)
    return bool(archived.update(archived_at=None))


def _rule_fields(values: RuleValues) -> dict[str, Any]:
    if values.channel.archived_at is not None:
        raise NotificationError("channel", _("The channel is archived: choose another."))
    if values.least_severity not in Alert.Severity:
        raise NotificationError(
            "least_severity", _("A severity is one of {values}.").format(values=", ".join(Alert.Severity.values))
        )
    if (values.quiet_from is None) != (values.quiet_until is None) or (
        values.quiet_from is not None and values.quiet_from == values.quiet_until
    ):
        raise NotificationError("quiet_until", _("Quiet hours have a beginning and another end."))
    if values.digest_at is not None and values.quiet_from is not None:
        raise NotificationError("quiet_from", _("A digest has its time of day: it needs no quiet hours."))
    try:
        zone_checked(values.time_zone)
    except TimingError as error:
        raise NotificationError("time_zone", error.message) from error
    return vars(values) | {
        "name": checked_name(values.name),
        "host_label": checked_label(values.host_label),
        "alert_kinds": checked_words("alert_kinds", values.alert_kinds),
        "transitions": checked_words("transitions", values.transitions),
    }


def _window_fields(values: WindowValues) -> dict[str, Any]:
    label = checked_label(values.host_label)
    if [values.host is not None, bool(label), values.environment is not None].count(True) != 1:
        raise NotificationError("host", _("A maintenance window is of one host, one host label or one environment."))
    if values.ends_at <= values.begins_at:
        raise NotificationError("ends_at", _("The maintenance window ends before it begins."))
    return vars(values) | {"name": checked_name(values.name), "host_label": label}
