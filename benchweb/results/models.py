"""What trials gave: the engine's document as it came, and its metrics as points of series."""

from django.db import models

from benchweb.hosts.models import Facts, Pair
from benchweb.runs.models import Run, Trial


class Result(models.Model):
    """A trial's result, at most one; `document` is the engine's own, facts and histogram moved beside it."""

    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="result")
    metrics = models.JSONField()
    flags = models.JSONField(default=list)
    # The verdicts alone, for lists; their evidence is in the document.
    limits = models.JSONField(default=list)
    document = models.JSONField()
    histogram = models.BinaryField(null=True)
    source_facts = models.ForeignKey(Facts, null=True, on_delete=models.PROTECT, related_name="+")
    sink_facts = models.ForeignKey(Facts, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)


class Series(models.Model):
    """One metric of one kind with one set of identity parameters, on one pair."""

    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="series")
    kind = models.CharField(max_length=60)
    metric = models.CharField(max_length=60)
    identity = models.JSONField()
    identity_digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["pair", "kind", "metric", "identity_digest"], name="series_once")
        ]


class Point(models.Model):
    """One trial's value in a series; written once, never updated."""

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="points", db_index=False)
    at = models.DateTimeField()
    value = models.FloatField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, db_index=True)
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trial", "series"], name="point_once_per_trial")]
        indexes = [
            # Reading a series is an index-only scan: everything a chart needs is in the index.
            models.Index(fields=["series", "at"], include=["value", "run", "trial"], name="point_by_series"),
        ]
