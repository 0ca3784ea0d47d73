"""Share links: what a run looked like when it was shared, and who may still look at it."""

from django.conf import settings
from django.db import models

from benchweb.runs.models import Run


class Share(models.Model):
    """A link to a frozen run, or to a view, frozen or live; once it has ended, only its row is left."""

    # The snapshot doesn't need its run any more: retention may take the run first.
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="shares")
    # Of a view: its address on the dashboard, and what it was called. A live one is made anew when it is opened.
    path = models.CharField(max_length=2000, blank=True, default="", db_default="")
    title = models.CharField(max_length=300, blank=True, default="", db_default="")
    is_live = models.BooleanField(default=False, db_default=False)
    # In which zone days are read and times are told.
    zone = models.CharField(max_length=60, blank=True, default="", db_default="")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    anonymise = models.BooleanField(default=False)
    # Look-ups go by the digest alone; the token is kept encrypted, for copying the link again.
    digest = models.CharField(max_length=64, unique=True)
    token_encrypted = models.BinaryField()
    # Hashed as users' are; without one the link alone opens it.
    password = models.CharField(max_length=128, blank=True, default="", db_default="")
    opened = models.PositiveIntegerField(default=0)
    last_opened_at = models.DateTimeField(null=True)
    # What is shown, in each language as RunRecord or Document is written; empty once ended, and of a live one.
    page = models.JSONField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"share {self.pk}"


class LivePage(models.Model):
    """What a live link shows, as it was made last in a language."""

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="live_pages", db_index=False)
    language = models.CharField(max_length=10)
    # When somebody began to make it anew: nobody else does within a minute.
    tried_at = models.DateTimeField(null=True)
    page = models.JSONField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["share", "language"], name="live_page_once")]

    def __str__(self) -> str:
        return f"{self.share_id} in {self.language}"


class SharePart(models.Model):
    """A piece of an export of a frozen run: an export is stored and read piece by piece, however long it is."""

    class Export(models.TextChoices):
        CSV = "csv", "CSV"
        JSON = "json", "JSON"

    share = models.ForeignKey(Share, on_delete=models.CASCADE, related_name="parts", db_index=False)
    export = models.CharField(max_length=4, choices=Export.choices)
    number = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        ordering = ["share_id", "export", "number"]
        constraints = [models.UniqueConstraint(fields=["share", "export", "number"], name="share_part_once")]

    def __str__(self) -> str:
        return f"{self.share_id}.{self.export}.{self.number}"
