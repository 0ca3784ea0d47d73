"""Plans and their versions: what to test, how often, in which order."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from benchweb.labels import Labelled
from benchweb.plans.confidence import RequestedConfidence


class Plan(Labelled):
    """A named test plan; what it tests is in its versions, which never change."""

    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    # The size of a sweep at which its runs' main figures are told, for all versions; None is the middle one.
    main_size_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    # Made for single launches, by the quick test or by a run with changes: no list of plans has it until it is kept.
    is_one_off = models.BooleanField(default=False, db_default=False, editable=False)
    # Made by generate_history.
    is_synthetic = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class PlanVersion(models.Model):
    """One version: steps as `[{"kind", "params"}]`, where a list as a value is a sweep."""

    class Order(models.TextChoices):
        INTERLEAVED = "interleaved", _("interleaved (A B C, A B C, …)")
        SEQUENTIAL = "sequential", _("sequential (A A, B B, C C, …)")
        SHUFFLED = "shuffled", _("shuffled (random order)")

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    repetitions = models.PositiveIntegerField()
    order = models.CharField(max_length=20, choices=Order.choices)
    pause_seconds = models.FloatField(default=0)
    steps = models.JSONField()
    # None, or the fields of RequestedConfidence: then `repetitions` is the minimum.
    confidence = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["plan_id", "-number"]
        constraints = [models.UniqueConstraint(fields=["plan", "number"], name="plan_version_number_once")]

    def __str__(self) -> str:
        return version_label(self.plan.name, self.number)

    @property
    def requested_confidence(self) -> RequestedConfidence | None:
        return RequestedConfidence(**self.confidence) if self.confidence else None

    @property
    def maximum_repetitions(self) -> int:
        return self.requested_confidence.max_repetitions if self.requested_confidence else self.repetitions


def version_label(plan: str, number: int) -> str:
    """Call a version by its plan and number."""
    return f"{plan} v{number}"
