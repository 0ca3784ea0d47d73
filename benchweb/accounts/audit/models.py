"""The audit log's one table; triggers write it, and refuse to change it."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class AuditEntry(models.Model):
    """One change, log-in or refusal: when, by whom, through what and from where, with values before and after.

    A user, a token or the object itself may be gone when the entry is read, so none of them is a foreign key.
    """

    class Action(models.TextChoices):
        CREATED = "created", _("created")
        CHANGED = "changed", _("changed")
        DELETED = "deleted", _("deleted")
        LOGGED_IN = "logged_in", _("logged in")
        LOGGED_OUT = "logged_out", _("logged out")
        LOGIN_FAILED = "login_failed", _("failed to log in")
        REFUSED = "refused", _("was refused")
        DOWNLOADED = "downloaded", _("downloaded")
        USED = "used", _("used")

    class Via(models.TextChoices):
        PAGE = "page", _("page")
        TOKEN = "token", _("API token")
        # A host that brings one; the user is who issued it.
        TICKET = "ticket", _("ticket of a host")
        SYSTEM = "system", _("benchweb itself")

    at = models.DateTimeField(db_index=True)
    action = models.CharField(max_length=12, choices=Action.choices)
    via = models.CharField(max_length=6, choices=Via.choices)
    user_id = models.BigIntegerField(null=True)
    user_name = models.CharField(max_length=150, blank=True)
    token_id = models.BigIntegerField(null=True)
    address = models.CharField(max_length=45, blank=True)
    # The table of the object, its key and, where it has one, its name at the time.
    table = models.CharField(max_length=63, blank=True)
    object_id = models.BigIntegerField(null=True)
    object_name = models.TextField(blank=True)
    # {column: [before, after]}; null before the object was and after it is gone. Secrets and long texts: "…".
    changes = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["table", "object_id", "-id"], name="audit_of_object"),
            models.Index(fields=["user_name", "-id"], name="audit_of_user"),
        ]

    def __str__(self) -> str:
        return f"{self.user_name or self.via} {self.action} {self.table} {self.object_id}"
