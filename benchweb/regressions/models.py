"""Alerts and their lives, and slow changes: what changed or is missing, who did what, what series taught."""

from django.conf import settings
from django.db import models
from django.db.models import Case, F, FloatField, GeneratedField, Q, Value, When
from django.db.models.functions import Coalesce, Least
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchweb.hosts.models import Archivable, Endpoint, Environment, Host, Pair
from benchweb.plans.models import Plan
from benchweb.results.models import Series
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.models import Schedule


class Threshold(Archivable):
    """A limit that a metric's median of a run must keep, whatever is usual; what it is of never changes."""

    class Relation(models.TextChoices):
        ABOVE = "above", _("above")
        BELOW = "below", _("below")
        BASELINE = "baseline", _("worse than the pinned baseline by")

    kind = models.CharField(max_length=40)
    metric = models.CharField(max_length=60)
    relation = models.CharField(max_length=10, choices=Relation.choices)
    # In the metric's unit; of a baseline a share of its run's figure.
    limit = models.FloatField()
    severity = models.CharField(max_length=20)
    # So many runs in a row must break it to open an alert, and keep it to end one.
    runs_in_row = models.PositiveSmallIntegerField(default=1, db_default=1)
    # Of one test, by its identity parameters; empty for all of the kind.
    identity_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    # Of one of these, or of all runs.
    environment = models.ForeignKey(Environment, null=True, on_delete=models.PROTECT, related_name="+")
    pair = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="+")
    plan = models.ForeignKey(Plan, null=True, on_delete=models.PROTECT, related_name="+")
    # Since it was created or restored: what it reported before is reported again.
    in_force_since = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["name", "id"]
        indexes = [
            models.Index(fields=["kind", "metric"], condition=Q(archived_at=None), name="threshold_in_force"),
        ]


class Alert(models.Model):
    """One cause: a change of one or many series of a pair or host, or results that are missing."""

    class Kind(models.TextChoices):
        CHANGE = "change", _("change")
        ABSENCE = "absence", _("missing results")
        THRESHOLD = "threshold", _("threshold")

    class State(models.TextChoices):
        SUSPECT = "suspect", _("suspect")
        CONFIRMING = "confirming", _("confirming")
        OPEN = "open", _("open")
        ACKNOWLEDGED = "acknowledged", _("acknowledged")
        # The new level is the baseline from now on.
        EXPECTED = "expected", _("expected")
        # It was noise: the floor of its series is raised.
        INVALID = "invalid", _("noise")
        FIXED = "fixed", _("fixed")
        RECOVERED = "recovered", _("recovered")
        # Its series are another alert's now.
        MERGED = "merged", _("merged")

    class Severity(models.TextChoices):
        INFO = "info", _("info")
        WARNING = "warning", _("warning")
        CRITICAL = "critical", _("critical")

        @property
        def rank(self) -> int:
            """Return how bad it is: 0 for the least."""
            return list(Alert.Severity).index(self)

    class RerunVerdict(models.TextChoices):
        """The answer of the re-run and its controls."""

        HOST = "host", _("the host")
        PAIR = "pair", _("the pair")
        GONE = "gone", _("gone when measured again")

    kind = models.CharField(max_length=20, choices=Kind.choices)
    state = models.CharField(max_length=20, choices=State.choices)
    severity = models.CharField(max_length=20, choices=Severity.choices, default=Severity.WARNING)
    # What it tells, as a code with parameters: benchweb.regressions.alert_texts has the sentences.
    code = models.CharField(max_length=40)
    params = models.JSONField(default=dict)
    # Largest relative difference among its series; None where it is no change, or the level was 0.
    size_ratio = models.FloatField(null=True)
    # Worst first: by severity, then by size; what is missing counts as the whole of it.
    rank = GeneratedField(
        expression=Case(
            When(severity="critical", then=Value(20.0)),
            When(severity="warning", then=Value(10.0)),
            default=Value(0.0),
            output_field=FloatField(),
        )
        + Least(Coalesce(F("size_ratio"), Value(1.0)), Value(9.0), output_field=FloatField()),
        output_field=FloatField(),
        db_persist=True,
    )
    environment = models.ForeignKey(Environment, null=True, on_delete=models.PROTECT, related_name="+")
    # What all of its pairs have in common; None where that is not one host.
    host = models.ForeignKey(Host, null=True, on_delete=models.PROTECT, related_name="+")
    # None where it is about several pairs, other than the two directions of one.
    pair = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="+")
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.PROTECT, related_name="+")
    plan = models.ForeignKey(Plan, null=True, on_delete=models.PROTECT, related_name="+")
    schedule = models.ForeignKey(Schedule, null=True, on_delete=models.PROTECT, related_name="+")
    # When the first bad run began, or since when something is missing; and the night of that.
    begun_at = models.DateTimeField()
    night = models.DateField()
    # The same cause has the same key, so that no two alerts tell of it, whatever became of the first.
    segment_key = models.CharField(max_length=200, unique=True)
    # The re-run with its controls, and what it showed; else why there was none, as a code.
    confirmation = models.ForeignKey(Campaign, null=True, on_delete=models.SET_NULL, related_name="+")
    verdict = models.CharField(max_length=10, choices=RerunVerdict.choices, blank=True)
    unconfirmed_code = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField()
    # When people were told of it first; None for a suspect that never came to that.
    opened_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # A snooze ends at a time, or once the alert is worse than this rank, where it has one.
    snoozed_until = models.DateTimeField(null=True)
    snoozed_rank = models.FloatField(null=True)
    merged_into = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="merged")
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="assigned_alerts"
    )
    ticket_url = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at=None, state__in=("suspect", "confirming", "open", "acknowledged"))
                | Q(ended_at__isnull=False, state__in=("expected", "invalid", "fixed", "recovered", "merged")),
                name="alert_has_ended_as_its_state_says",
            )
        ]
        indexes = [
            models.Index(fields=["environment", "begun_at"], condition=Q(ended_at=None), name="alert_live"),
            models.Index(fields=["state", "-id"], name="alert_by_state"),
            models.Index(fields=["night"], name="alert_by_night"),
            models.Index(fields=["-rank", "-id"], name="alert_by_rank"),
            models.Index(fields=["confirmation"], condition=Q(state="confirming"), name="alert_confirming"),
        ]

    def __str__(self) -> str:
        return f"alert {self.pk}"

    @property
    def is_synthetic(self) -> bool:
        """Tell whether it is of what nobody measured, as `of_sample` does of many."""
        rows = (self.environment, self.plan, self.host, self.pair.source.host if self.pair else None)
        return next((row.is_synthetic for row in rows if row is not None), False)

    @property
    def is_snoozed(self) -> bool:
        """Tell whether a live alert is hidden now."""
        if self.ended_at is not None or self.snoozed_until is None:
            return self.ended_at is None and self.snoozed_rank is not None
        return self.snoozed_until > timezone.now()


# Nobody has dealt with these yet.
UNTRIAGED_STATES = (Alert.State.SUSPECT, Alert.State.CONFIRMING, Alert.State.OPEN)
LIVE_STATES = (*UNTRIAGED_STATES, Alert.State.ACKNOWLEDGED)


def of_sample() -> Coalesce:
    """Return an expression of alerts that tells whether one is of what nobody measured."""
    ends = ("environment", "plan", "host", "pair__source__host")
    return Coalesce(*(f"{end}__is_synthetic" for end in ends), Value(False))


class AlertSeries(models.Model):
    """One series' part in an alert: the segments on both sides of its change."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="series")
    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="alert_parts")
    # Whose limit was broken: `before` is the limit then, and `after` the latest figure. None where it is a change.
    threshold = models.ForeignKey(Threshold, null=True, on_delete=models.PROTECT, related_name="parts")
    # A segment of a series is told once, whatever became of its alert.
    segment_key = models.CharField(max_length=80, unique=True)
    # Medians of the segments in the metric's unit, and the interval of their difference as shares of `before`.
    before = models.FloatField()
    after = models.FloatField()
    difference_ratio = models.FloatField(null=True)
    interval_low_ratio = models.FloatField(null=True)
    interval_high_ratio = models.FloatField(null=True)
    # Of two modes whose shares changed: how many of the runs were at the lower one. None where levels changed.
    mode_share_before = models.FloatField(null=True)
    mode_share_after = models.FloatField(null=True)
    # The host that accounts for it, and by which share of its level what that measures alone moved; None for none.
    canary = models.JSONField(null=True)
    # None for a suspect, of which no test can tell yet.
    p = models.FloatField(null=True)
    last_good_run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="+")
    first_bad_run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    rerun = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    # The first run that was as before; None while it is not.
    recovered_run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["series", "-id"], name="alert_series_latest")]

    @property
    def is_confirmed(self) -> bool:
        """Tell whether more than one run showed it: by a test over runs since, or by measuring it again."""
        return self.p is not None or self.rerun_id is not None

    @property
    def was_unannounced(self) -> bool:
        """Tell whether it was over before people were told of its alert."""
        return self.recovered_run_id is not None and self.alert.opened_at is None


class AlertTransition(models.Model):
    """Something that happened to an alert; never changed. Where both states are the same it was a comment, or so."""

    class AlertAction(models.TextChoices):
        FOUND = "found", _("found")
        MOVED = "moved", _("moved")
        COMMENTED = "commented", _("commented")
        ASSIGNED = "assigned", _("assigned")
        SNOOZED = "snoozed", _("snoozed")
        # The snooze was ended, by somebody or because it got worse.
        WOKEN = "woken", _("snooze ended")
        MERGED = "merged", _("merged")
        SPLIT = "split", _("split")
        # Series of a measure that it had none of.
        JOINED = "joined", _("series joined")

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="transitions")
    action = models.CharField(max_length=20, choices=AlertAction.choices, default=AlertAction.MOVED)
    at = models.DateTimeField()
    # None: by itself.
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    from_state = models.CharField(max_length=20, choices=Alert.State.choices, blank=True)
    to_state = models.CharField(max_length=20, choices=Alert.State.choices)
    comment = models.TextField(blank=True)
    # What else it was about: until when, to whom, from which alert or into which.
    params = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]


class Baseline(models.Model):
    """A run that others are compared with, pinned by somebody: "since release 5.2"."""

    name = models.CharField(max_length=100)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+")
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    pinned_at = models.DateTimeField()
    pinned_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    # Then the one that was pinned before it holds again.
    archived_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["pair", "plan", "-id"], condition=Q(archived_at=None), name="baseline_in_force"),
        ]

    def __str__(self) -> str:
        return self.name


class SeriesNoise(models.Model):
    """The floor that people taught of a series' noise: a smaller relative change is told no more."""

    series = models.OneToOneField(Series, primary_key=True, on_delete=models.CASCADE, related_name="noise")
    floor_ratio = models.FloatField()
    taught_at = models.DateTimeField()


class Sensitivity(models.Model):
    """The bounds from which on changes are told of a plan, environment, metric, kind, or their combination."""

    plan = models.ForeignKey(Plan, null=True, on_delete=models.CASCADE, related_name="+")
    environment = models.ForeignKey(Environment, null=True, on_delete=models.CASCADE, related_name="+")
    # Empty: of all.
    kind = models.CharField(max_length=40, blank=True)
    metric = models.CharField(max_length=60, blank=True)
    # A smaller relative change is not told; None: as usual.
    floor_ratio = models.FloatField(null=True)
    # A run that lies further off than so many times the noise is a suspect; None: as usual.
    noise_times = models.FloatField(null=True)
    # Then nothing is judged by it.
    archived_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["plan", "environment", "kind", "metric"],
                condition=Q(archived_at=None),
                nulls_distinct=False,
                name="sensitivity_once_in_use",
            )
        ]


class RunJudgement(models.Model):
    """A final run that is to be judged, or was: once, whoever tries."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="judgement")
    # When it was given to a worker last.
    queued_at = models.DateTimeField()
    judged_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    # Of what was measured long before it was imported nobody is told, although its changes are looked for.
    is_told = models.BooleanField(default=True, db_default=True)

    class Meta:
        indexes = [models.Index(fields=["queued_at"], condition=Q(judged_at=None), name="judgement_waiting")]


class SlowLook(models.Model):
    """A second look at the nights of an environment, once a day: by whoever claims it, until it is taken."""

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    # The latest night that is looked at, named by the date of its end.
    night = models.DateField()
    # Whoever claimed it has until then, and says so again after each part of it; later it is anybody's.
    claimed_until = models.DateTimeField()
    taken_at = models.DateTimeField(null=True)
    # That have enough nights to be looked at.
    series_count = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["environment", "night"], name="slow_look_once_a_night")]
        indexes = [models.Index(fields=["night"], name="slow_look_by_night")]


class SlowChange(models.Model):
    """What got worse slowly and has one cause: series of a host or a pair; told in digests, and never an alert."""

    look = models.ForeignKey(SlowLook, on_delete=models.CASCADE, related_name="changes")
    # What all of its pairs have in common; None where that is not one host.
    host = models.ForeignKey(Host, null=True, on_delete=models.PROTECT, related_name="+")
    # None where it is about several pairs, other than the two directions of one.
    pair = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="+")
    pair_count = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]


class SlowChangeSeries(models.Model):
    """One series' part in a slow change; the first of a change names it."""

    change = models.ForeignKey(SlowChange, on_delete=models.CASCADE, related_name="series")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="slow_parts")
    # What was told of the series before, which it has clearly grown since, or another change; None for the first.
    previous = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="+")
    # The first night that is worse, of a drift about that; and how many nights are known among those looked at.
    since = models.DateField()
    nights = models.PositiveSmallIntegerField()
    is_drift = models.BooleanField()
    # Levels in the metric's unit, and the interval of their difference as shares of `before`.
    before = models.FloatField()
    after = models.FloatField()
    difference_ratio = models.FloatField(null=True)
    interval_low_ratio = models.FloatField(null=True)
    interval_high_ratio = models.FloatField(null=True)
    p = models.FloatField()

    class Meta:
        ordering = ["id"]
        constraints = [
            # Whoever looks at once: what follows one telling is told once.
            models.UniqueConstraint(fields=["series", "previous"], nulls_distinct=False, name="slow_change_told_once")
        ]
