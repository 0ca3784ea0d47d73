"""Channels, rules, maintenance windows, and the outbox with its log."""

from datetime import timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from benchweb.catalog.reasons import ReasonOf
from benchweb.hosts.models import Archivable, Environment, Host
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert

# No message is tried again so long after its first attempt: the last one is a day after it, or a little more.
PATIENCE = timedelta(hours=30)


class Channel(Archivable):
    """A way to reach people."""

    # One of benchweb.notifications.kinds.table: no choices here, or a new kind would need a migration.
    kind = models.CharField(max_length=40)
    # As the kind's check returns it: nothing secret.
    config = models.JSONField(default=dict)
    # The key that a webhook is signed with, or the whole address of a messenger.
    secret_encrypted = models.BinaryField(default=b"")
    # A receiver said that it wants no more, or somebody did.
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.TextField(blank=True)
    disabled_reason_data = models.JSONField(null=True)
    disabled_why = ReasonOf("disabled_reason")

    class Meta:
        ordering = ["name", "id"]


class Rule(Archivable):
    """The events that go to a channel, and when; what is left empty holds for all."""

    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="rules")
    environment = models.ForeignKey(Environment, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    plan = models.ForeignKey(Plan, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    # At least one host of the event has it.
    host_label = models.CharField(max_length=60, blank=True)
    least_severity = models.CharField(max_length=10, choices=Alert.Severity.choices, default=Alert.Severity.INFO)
    alert_kinds = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    transitions = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    # Times of day in this zone. With a digest time, what happened is told together then; else each at once.
    time_zone = models.CharField(max_length=60, default="UTC")
    digest_at = models.TimeField(null=True, blank=True)
    # Nothing is sent meanwhile, but kept until they end; hours that end before they begin go over midnight.
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(quiet_from=None, quiet_until=None)
                | Q(quiet_from__isnull=False, quiet_until__isnull=False) & ~Q(quiet_from=F("quiet_until")),
                name="rule_quiet_hours_have_two_ends",
            )
        ]


class MaintenanceWindow(Archivable):
    """A time in which events of one host, of hosts with a label, or of an environment are muted."""

    host = models.ForeignKey(Host, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    host_label = models.CharField(max_length=60, blank=True)
    environment = models.ForeignKey(Environment, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    # When what it had muted, and goes on, was told after its end.
    told_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-begins_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("begins_at")), name="maintenance_ends_after_its_beginning"
            ),
            models.CheckConstraint(
                condition=Q(host__isnull=False, host_label="", environment=None)
                | (Q(host=None, environment=None) & ~Q(host_label=""))
                | Q(host=None, host_label="", environment__isnull=False),
                name="maintenance_of_one_thing",
            ),
        ]


class Delivery(models.Model):
    """One message to one channel: the outbox, written in the transaction in which the event happened."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        # For the end of quiet hours, or for a digest.
        HELD = "held", _("held")
        SENT = "sent", _("sent")
        # A mail server took it for some of its recipients, and refused the others.
        PARTIAL = "partial", _("partly sent")
        # The last attempt failed, and another one follows.
        FAILED = "failed", _("failed, will be tried again")
        GIVEN_UP = "given_up", _("given up")
        MUTED = "muted", _("muted")

    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="deliveries")
    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="+")
    event_id = models.CharField(max_length=100)
    # What receivers know it by, the same at every attempt.
    message_id = models.CharField(max_length=40, unique=True)
    # As benchweb.notifications.messages makes it.
    payload = models.JSONField()
    # Of a mail that a server answered to: what became of each recipient, {address: {"state", "answer"}}; state is
    # taken, refused, or waiting for the next attempt, which is for those alone.
    recipients = models.JSONField(default=dict, db_default={})
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    # Why it waits, was muted or was given up.
    reason = models.TextField(blank=True)
    reason_data = models.JSONField(null=True)
    why = ReasonOf("reason")
    # What muted it, and tells after its end what goes on.
    muted_by = models.ForeignKey(MaintenanceWindow, null=True, on_delete=models.SET_NULL, related_name="muted")
    created_at = models.DateTimeField(auto_now_add=True)
    # None while it waits for its digest, and once it is over.
    next_attempt_at = models.DateTimeField(null=True)
    # Whoever claimed it has until then; later it is anybody's again.
    claimed_until = models.DateTimeField(null=True)
    # Claims, and those of them that are known to have failed.
    attempts = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)
    # Held for a time of day: in which zone, and how far its clocks were to be ahead of UTC then: its rules may change.
    held_zone = models.CharField(max_length=60, blank=True, default="", db_default="")
    held_offset_seconds = models.IntegerField(null=True)
    # When the digest that it waits for is due, and the message that it went into.
    digest_due_at = models.DateTimeField(null=True)
    digest = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="parts")

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["event_id", "channel"], name="delivery_once_per_channel")]
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(next_attempt_at__isnull=False), name="delivery_due"),
            models.Index(
                fields=["digest_due_at"], condition=Q(digest=None, digest_due_at__isnull=False), name="delivery_digest"
            ),
            models.Index(fields=["finished_at"], condition=Q(finished_at__isnull=False), name="delivery_over"),
        ]


class DeliveryAttempt(models.Model):
    """One attempt to deliver; without an end it is under way, or whoever made it was killed."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="log")
    number = models.PositiveIntegerField()
    begun_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    # What the receiver answered: the HTTP or SMTP status and the first bytes.
    status = models.IntegerField(null=True)
    answer = models.TextField(blank=True)
    # Why it failed; empty for a success.
    error = models.TextField(blank=True)
    error_data = models.JSONField(null=True)
    why = ReasonOf("error")

    class Meta:
        ordering = ["delivery_id", "number"]
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="attempt_number_once")]

    @property
    def words(self) -> str:
        """Return the receiver's words; nothing where the reason says them of each recipient."""
        return "" if self.error_data and "answers" in self.error_data["params"] else self.answer
