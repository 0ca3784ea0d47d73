"""Campaigns, runs and trials, and the reservations that keep exclusive runs apart."""

import uuid

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchweb.catalog.reasons import ReasonOf
from benchweb.hosts.models import Host, Pair
from benchweb.labels import Labelled
from benchweb.plans.models import PlanVersion


class State(models.TextChoices):
    """States of trials, runs and campaigns; transitions only go forward, each a conditional UPDATE."""

    PENDING = "pending", "pending"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"
    MISSED = "missed", "missed"
    NONSTART = "nonstart", "nonstart"


OPEN_STATES = (State.PENDING, State.RUNNING)
# Of what ended, all but what has a whole result; from the worst to the mildest.
FAULTY_STATES = (State.FAILED, State.NONSTART, State.MISSED, State.CANCELLED)


class Campaign(models.Model):
    """Runs launched together: a plan version on one or more pairs."""

    class Arrangement(models.TextChoices):
        """How runs that want the same hosts follow each other."""

        RUNS = "runs", _("run after run")
        # Each pair once, then all again, so that drift of hosts and network falls on all pairs alike.
        ROUNDS = "rounds", _("round after round")
        # Several sources test one sink at once; the first run leads, and holds the hosts of all.
        TOGETHER = "together", _("together")

    plan_version = models.ForeignKey(PlanVersion, on_delete=models.PROTECT, related_name="campaigns")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    # Runs that have not begun by then end as nonstart: the window of their schedule has closed.
    start_before = models.DateTimeField(null=True)
    # How often a run waits and tries again when an engine is unreachable or refuses, before it becomes nonstart.
    retries = models.PositiveSmallIntegerField(default=0)
    retry_pause_seconds = models.FloatField(default=60)
    # What was planned at launch: how long all runs take together, and the least that any order could.
    planned_seconds = models.FloatField(null=True)
    lower_bound_seconds = models.FloatField(null=True)
    arrangement = models.CharField(
        max_length=10, choices=Arrangement.choices, default=Arrangement.RUNS, db_default=Arrangement.RUNS
    )

    class Meta:
        ordering = ["-id"]


class Run(Labelled):
    """A plan version executed on a pair; held by one worker through a lease.

    One that runs without a worker rests between two rounds: its next round is in the queues.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="runs")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="runs")
    plan_version = models.ForeignKey(PlanVersion, on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(max_length=20, choices=State.choices, default=State.PENDING)
    # Its sentence in English, and its data (benchweb.catalog.reasons); rows of before have the sentence alone.
    reason = models.TextField(blank=True)
    reason_data = models.JSONField(null=True)
    waiting_for = models.TextField(blank=True)
    waiting_for_data = models.JSONField(null=True)
    why = ReasonOf("reason")
    waits_for = ReasonOf("waiting_for")
    created_at = models.DateTimeField(auto_now_add=True)
    # Its place in the order of the runs that want the same resources, as a time: no promise of that time. None for a
    # run of background trials only: it runs beside anything and stands in no queue.
    planned_at = models.DateTimeField(null=True)
    # A run that is to be tried again waits until then.
    not_before = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # How many workers broke off on it beside its trials: before the first, after the last, or when it was summed up.
    break_offs = models.PositiveSmallIntegerField(default=0, db_default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    # Which IP addresses its engines were asked at and its test traffic went between, once it has begun:
    # {"source": {"control", "data"}, "sink": {"control", "data", "data_port"}}.
    addresses = models.JSONField(null=True)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    # Its medians are written down, and among those of its series' recent runs: its points need not be read.
    has_figures = models.BooleanField(default=False, db_default=False)
    # When its trials' intervals were removed for its age; figures, histograms, flags and limits stay.
    intervals_removed_at = models.DateTimeField(null=True)
    # When all that its engines told beside figures, histograms, flags and limits went, too.
    details_removed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "pair"], name="run_once_per_campaign_and_pair")]
        indexes = [
            models.Index(fields=["pair", "-id"], name="run_by_pair"),
            GinIndex(fields=["labels"], condition=~Q(labels=[]), name="run_labelled"),
            models.Index(fields=["created_at", "id"], name="run_by_launch"),
            models.Index(fields=["state", "id"], condition=Q(state__in=OPEN_STATES), name="run_open"),
            # Both small, whatever waits: the tick asks for these every second.
            models.Index(fields=["id"], condition=~Q(lease_owner=""), name="run_held"),
            models.Index(fields=["id"], condition=Q(state=State.PENDING, planned_at=None), name="run_without_queue"),
            models.Index(fields=["finished_at"], include=["state", "pair", "started_at"], name="run_by_end"),
            models.Index(
                fields=["-id"], condition=Q(has_figures=False) & ~Q(state__in=OPEN_STATES), name="run_without_figures"
            ),
            models.Index(fields=["pair"], condition=Q(has_figures=False), name="run_of_points"),
            # The oldest with something to remove, among years of runs without.
            models.Index(fields=["finished_at"], condition=Q(intervals_removed_at=None), name="run_with_intervals"),
            models.Index(fields=["finished_at"], condition=Q(details_removed_at=None), name="run_with_details"),
            # Why a line of the history breaks.
            models.Index(fields=["pair", "created_at"], condition=Q(state__in=FAULTY_STATES), name="run_faulty"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"


class Trial(models.Model):
    """One kind with one value of each parameter, one repetition."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials")
    index = models.PositiveIntegerField()
    kind = models.CharField(max_length=60)
    params = models.JSONField()
    repetition = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=State.choices, default=State.PENDING)
    reason = models.TextField(blank=True)
    reason_data = models.JSONField(null=True)
    why = ReasonOf("reason")
    session = models.UUIDField(default=uuid.uuid4, unique=True)
    cookie = models.CharField(max_length=64)
    # How many workers broke off on it: after three it fails.
    break_offs = models.PositiveSmallIntegerField(default=0, db_default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["run_id", "index"]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="trial_index_once")]

    def __str__(self) -> str:
        return f"trial {self.index} of run {self.run_id}"


class RunEvent(models.Model):
    """What happened to a run, for people: claimed, trial failed, worker lost, cancelled."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    text = models.TextField()
    text_data = models.JSONField(null=True)
    what = ReasonOf("text")

    class Meta:
        ordering = ["id"]


class Resource(models.Model):
    """What a run occupies: a host, or an uplink that hosts share."""

    host = models.OneToOneField(Host, on_delete=models.PROTECT, related_name="resource", null=True)
    uplink = models.CharField(max_length=60, unique=True, null=True)  # noqa: DJ001  (unique where it is one)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(host__isnull=False, uplink=None) | Q(host=None, uplink__isnull=False),
                name="resource_is_host_or_uplink",
            ),
        ]

    def __str__(self) -> str:
        return f"host {self.host.name}" if self.host else f"uplink {self.uplink}"


class Reservation(models.Model):
    """What a run wants of a resource, and from its start on when it occupies it.

    Rows are made with their run; without a span they are the resource's queue. The constraints are invariant 3,
    whatever the code does.
    """

    NORMAL, EXCLUSIVE = 0, 1

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="reservations")
    resource = models.ForeignKey(Resource, on_delete=models.PROTECT, related_name="reservations")
    # 1 for exclusive: a small integer, because "differs from" on it is indexable by btree_gist.
    exclusive = models.SmallIntegerField()
    during = DateTimeRangeField(null=True)
    # The run's own, for the order of the queue.
    planned_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["resource", "planned_at", "run"], condition=Q(during=None), name="reservation_waiting"
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "resource"], name="reservation_once_per_run"),
            models.CheckConstraint(condition=Q(exclusive__in=(0, 1)), name="reservation_exclusive_is_0_or_1"),
            ExclusionConstraint(
                name="exclusive_excludes_exclusive",
                expressions=[("resource", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
                # Those that wait have no place in these indexes: a launch of thousands would pay for each.
                condition=Q(exclusive=1, during__isnull=False),
            ),
            ExclusionConstraint(
                name="exclusive_excludes_normal",
                expressions=[
                    ("resource", RangeOperators.EQUAL),
                    ("during", RangeOperators.OVERLAPS),
                    ("exclusive", RangeOperators.NOT_EQUAL),
                ],
                condition=Q(during__isnull=False),
            ),
        ]
