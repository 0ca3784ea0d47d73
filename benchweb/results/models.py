"""What trials gave: the engine's document as it came, and its metrics as points of series."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from benchweb.hosts.models import Environment, Facts, Pair
from benchweb.runs.models import Run, Trial


class Result(models.Model):
    """A trial's result, at most one; `document` is the engine's own, facts and histogram moved beside it."""

    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="result")
    metrics = models.JSONField()
    flags = models.JSONField(default=list)
    # The verdicts alone, for lists; their evidence is in the document.
    limits = models.JSONField(default=list)
    document = models.JSONField()
    # Of a long test the document holds its course in few intervals, and its trial's IntervalPart so many; else None.
    interval_count = models.PositiveIntegerField(null=True)
    histogram = models.BinaryField(null=True)
    source_facts = models.ForeignKey(Facts, null=True, on_delete=models.PROTECT, related_name="+")
    sink_facts = models.ForeignKey(Facts, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)


class IntervalPart(models.Model):
    """Some of a long test's intervals, as the engine told them: pages read none, exports one part after the other."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="interval_parts", db_index=False)
    number = models.PositiveIntegerField()
    intervals = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trial", "number"], name="interval_part_once")]


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
        indexes = [
            # A series' place among all of its kind and metric gives its colour; and the history's choices.
            models.Index(fields=["kind", "metric", "id"], name="series_by_metric"),
            # The identities of a kind, each found from the one before.
            models.Index(fields=["kind", "identity_digest"], name="series_by_identity"),
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


class RunFigure(models.Model):
    """What a final run gave to a series: the median of its repetitions, so that a year of runs is read without them.

    Written with the run's `has_figures`; see benchweb.results.run_summaries. Until then a run has its points alone.
    """

    # The run comes first: its rows go with it. A series' rows are found by the index.
    pk = models.CompositePrimaryKey("run_id", "series_id")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="figures", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="figures", db_index=False)
    # When the first of its repetitions began, and how many there were.
    at = models.DateTimeField()
    n = models.PositiveIntegerField()
    median = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()

    class Meta:
        indexes = [
            # Everything that a chart needs is in the index, as with points.
            models.Index(
                fields=["series", "at"], include=["run", "n", "median", "low", "high"], name="figure_by_series"
            )
        ]


class RecentMedians(models.Model):
    """A series' latest runs in one row, so that overviews of thousands of series read no points.

    Written once a run is final, by run_summaries. The arrays go together, one entry a run, oldest first.
    """

    series = models.OneToOneField(Series, primary_key=True, on_delete=models.CASCADE, related_name="recent")
    runs = ArrayField(models.BigIntegerField())
    ats = ArrayField(models.DateTimeField())
    medians = ArrayField(models.FloatField())
    # Of the latest run: when it began, and its repetitions.
    at = models.DateTimeField()
    median = models.FloatField()
    n = models.PositiveIntegerField()
    low = models.FloatField()
    high = models.FloatField()
    # As benchweb.statistics.deviation has them, the latest run against those before it.
    baseline = models.FloatField(null=True)
    score = models.FloatField(null=True)


class EnvironmentNights(models.Model):
    """One figure of an environment, night by night: the median over its pairs; made by nightly_summaries."""

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="nights")
    kind = models.CharField(max_length=60)
    metric = models.CharField(max_length=60)
    identity = models.JSONField()
    identity_digest = models.CharField(max_length=64)
    # The arrays go together, oldest first; a night without a result has no entry.
    nights = ArrayField(models.DateField(), default=list)
    medians = ArrayField(models.FloatField(), default=list)
    pairs = ArrayField(models.IntegerField(), default=list)
    # Over the pairs of the latest night; None where they are not told yet.
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    # Of all these nights: the latest, and the most pairs of one.
    night = models.DateField(null=True)
    most_pairs = models.PositiveIntegerField(default=0)
    # From this night on the entries are to be made again.
    stale_from = models.DateField(null=True)
    made_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["environment", "kind", "metric", "identity_digest"], name="environment_nights_once"
            )
        ]
        indexes = [models.Index(fields=["made_at"], condition=~Q(stale_from=None), name="environment_nights_stale")]


class NightFigure(models.Model):
    """What all runs of a night gave together to a figure of an environment: a year of many pairs is read without them.

    Of every night that runs with figures began in; made when its EnvironmentNights are.
    """

    pk = models.CompositePrimaryKey("of_id", "night")
    of = models.ForeignKey(EnvironmentNights, on_delete=models.CASCADE, related_name="figures", db_index=False)
    night = models.DateField()
    # When the first of its runs began, how many they were, of how many pairs, and all their repetitions.
    at = models.DateTimeField()
    runs = models.PositiveIntegerField()
    pairs = models.PositiveIntegerField()
    n = models.PositiveIntegerField()
    # The median of the runs' medians, and the extremes of all repetitions.
    median = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()
