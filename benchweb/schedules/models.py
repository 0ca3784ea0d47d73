"""Schedules and their slots: when a plan is to run on which pairs, and what became of each time."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchweb.catalog.reasons import ReasonOf
from benchweb.hosts.models import Archivable
from benchweb.plans.models import Plan
from benchweb.runs.models import Campaign, State
from benchweb.schedules.defaults import DEFAULT_RERUN_PERCENT, DEFAULT_RETRIES, DEFAULT_RETRY_PAUSE_SECONDS

# A state of slots only: it came due while its schedule's campaign before it had not ended.
SKIPPED = "skipped"


class Schedule(Archivable):
    """A plan on chosen pairs, repeated by cron or interval; its latest plan version is taken at each slot."""

    class Missed(models.TextChoices):
        SKIP = "skip", _("skip: a missed time is recorded, and nothing runs")
        RUN_ONCE = "run_once", _("run once: however many were missed, one run makes up for them")
        RUN_ALL = "run_all", _("run all: every missed time is run, one after the other")

    class Overlap(models.TextChoices):
        SKIP = "skip", _("skip: the slot is recorded, and nothing runs")
        QUEUE_ONE = "queue_one", _("queue one: one slot waits until it has ended, further ones are skipped")

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="schedules")
    # As benchweb.schedules.targets has it: pairs, an environment, a label, or a mesh.
    target = models.JSONField()
    # One of both: a cron expression, or an ISO 8601 duration counted from `starts_at`.
    cron = models.CharField(max_length=200, blank=True)
    every = models.CharField(max_length=60, blank=True)
    timezone = models.CharField(max_length=60, default="UTC")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True, blank=True)
    max_runs = models.PositiveIntegerField(null=True, blank=True)
    missed = models.CharField(max_length=20, choices=Missed.choices, default=Missed.SKIP)
    # What a slot does that comes due before the schedule's campaign before it has ended.
    overlap = models.CharField(
        max_length=20, choices=Overlap.choices, default=Overlap.QUEUE_ONE, db_default=Overlap.QUEUE_ONE
    )
    # How the runs of a slot's campaign follow each other.
    arrangement = models.CharField(
        max_length=10,
        choices=Campaign.Arrangement.choices,
        default=Campaign.Arrangement.RUNS,
        db_default=Campaign.Arrangement.RUNS,
    )
    # Local times of day; a window that ends before it begins goes over midnight.
    window_from = models.TimeField(null=True, blank=True)
    window_until = models.TimeField(null=True, blank=True)
    # As benchweb.schedules.timing.times has them: [{"from", "until"}] in local times of day, or in times with dates.
    blackouts = models.JSONField(default=list, blank=True)
    # Runs that have not begun this long after their slot end as nonstart; the window's end does the same.
    deadline_seconds = models.PositiveIntegerField(null=True, blank=True)
    # How far a start may be moved, to spread schedules; an interval schedule chooses a place by itself.
    slip_seconds = models.PositiveIntegerField(default=0)
    retries = models.PositiveSmallIntegerField(default=DEFAULT_RETRIES)
    retry_pause_seconds = models.PositiveIntegerField(default=DEFAULT_RETRY_PAUSE_SECONDS)
    # Of the time that its runs took in the last day so much may go to measuring suspects again.
    rerun_percent = models.PositiveSmallIntegerField(default=DEFAULT_RERUN_PERCENT, db_default=DEFAULT_RERUN_PERCENT)
    # The runs a slot that somebody agreed to, where they are more than are taken without a question.
    confirmed_runs = models.PositiveIntegerField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    # The first time that is not yet a slot; None when there is none any more. The tick claims by it.
    next_at = models.DateTimeField(null=True)
    # After which moment it was looked for, and how far clocks in the zone were to be ahead of UTC at both: rules of
    # zones change. None for one that an older version planned.
    counted_from = models.DateTimeField(null=True)
    counted_offset_seconds = models.IntegerField(null=True)
    next_offset_seconds = models.IntegerField(null=True)
    # How often it could not be advanced, one try after the other: after three its slot is stepped over.
    break_offs = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(cron="") & ~Q(every="")) | (~Q(cron="") & Q(every="")), name="schedule_by_cron_or_interval"
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(paused_at=None, archived_at=None), name="schedule_due"),
        ]


class Slot(models.Model):
    """One time of a schedule and what became of it: a campaign, or the reason why there is none."""

    schedule = models.ForeignKey(Schedule, on_delete=models.PROTECT, related_name="slots")
    at = models.DateTimeField()
    # With a campaign it follows from the campaign's runs and is written when they are final.
    # Pending without a campaign, it waits for the schedule's campaign before it.
    state = models.CharField(max_length=20, choices=[*State.choices, (SKIPPED, SKIPPED)], default=State.PENDING)
    reason = models.TextField(blank=True)
    reason_data = models.JSONField(null=True)
    why = ReasonOf("reason")
    campaign = models.OneToOneField(Campaign, null=True, on_delete=models.PROTECT, related_name="slot")
    # "Run now" is a slot like any other, at the time that somebody asked.
    is_extra = models.BooleanField(default=False)
    claimed_at = models.DateTimeField()
    # How often it could not be launched when its turn had come: after three tries it fails.
    break_offs = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ["schedule_id", "-at"]
        constraints = [models.UniqueConstraint(fields=["schedule", "at"], name="slot_once_per_schedule_and_time")]
        indexes = [
            models.Index(fields=["state", "id"], condition=Q(state__in=("pending", "running")), name="slot_open"),
            models.Index(fields=["at"], name="slot_by_time"),
        ]
