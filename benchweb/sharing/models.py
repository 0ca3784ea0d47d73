"""Share links: what a run looked like when it was shared, and who may still look at it."""

from django.conf import settings
from django.db import models

from benchweb.runs.models import Run


class Share(models.Model):
    """A link to a frozen run; revoked, its content is gone and the row only remembers that there was one."""

    # The snapshot doesn't need its run any more: retention may take the run first.
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="shares")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    anonymise = models.BooleanField(default=False)
    # Look-ups go by the digest alone; the token is kept encrypted, for copying the link again.
    digest = models.CharField(max_length=64, unique=True)
    token_encrypted = models.BinaryField()
    opened = models.PositiveIntegerField(default=0)
    last_opened_at = models.DateTimeField(null=True)
    # What is shown, in each language as sharing.frozen.FrozenRun writes it, and both exports; empty once revoked.
    page = models.JSONField(null=True)
    csv = models.TextField(blank=True)
    document = models.TextField(blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"share {self.pk}"
