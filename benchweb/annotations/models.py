"""People's notes on what happened when: marks on every chart over time that they concern."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from benchweb.hosts.models import Environment, Host, Pair


class Annotation(models.Model):
    """A note at a time, or over a span; without environment, host and pair it concerns all of them."""

    text = models.CharField(max_length=500)
    at = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    environment = models.ForeignKey(Environment, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    host = models.ForeignKey(Host, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    pair = models.ForeignKey(Pair, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # Taken from the charts, but kept: who wrote what is part of the history.
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        # As it was called when it lived in another room: a new name would cost a lock and gain nothing.
        db_table = "regressions_annotation"
        ordering = ["at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(until=None) | Q(until__gte=F("at")), name="annotation_ends_after_its_beginning"
            )
        ]
        indexes = [models.Index(fields=["at"], condition=Q(archived_at=None), name="annotation_shown")]

    def __str__(self) -> str:
        return self.text
