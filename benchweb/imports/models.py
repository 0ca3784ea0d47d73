"""Store what was imported: the text as it came, and the run that it became."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from benchweb.hosts.models import Environment, Pair
from benchweb.runs.models import Run


class Import(models.Model):
    """One text imported on one pair, at most once; its run has a trial for each result that was read."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="imported")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="+")
    tools = ArrayField(models.CharField(max_length=20))
    file_name = models.CharField(max_length=200, blank=True)
    # Of the text, by SHA-256: the same file twice adds nothing.
    digest = models.CharField(max_length=64)
    text = models.TextField()
    # Of a result that another system pushed: its own name of it, so that it is taken once.
    key = models.CharField(max_length=200, blank=True, default="", db_default="")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["pair", "digest"], name="import_once_per_pair"),
            models.UniqueConstraint(fields=["created_by", "key"], condition=~Q(key=""), name="import_once_per_key"),
        ]

    def __str__(self) -> str:
        return f"import {self.pk}"


class OwnDefinition(models.Model):
    """What other systems defined: it belongs to an environment, or to all; once retired it takes no results."""

    environment = models.ForeignKey(Environment, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class OwnMetric(OwnDefinition):
    """A metric that another system defined; never changed, for its points stand in series."""

    # The column's name is what the audit log takes for a row's name.
    key = models.CharField(max_length=60, unique=True, db_column="name")
    label = models.CharField(max_length=100)
    unit = models.CharField(max_length=20, blank=True)
    better = models.CharField(max_length=7)

    def __str__(self) -> str:
        return self.key


class OwnKind(OwnDefinition):
    """A kind that another system defined, by its name with the prefix; metrics and parameters are only ever added."""

    name = models.CharField(max_length=60, unique=True)
    label = models.CharField(max_length=100)
    # Keys, the first being the headline.
    metrics = ArrayField(models.CharField(max_length=60))
    # Each one's JSON type.
    parameters = models.JSONField()

    def __str__(self) -> str:
        return self.name
