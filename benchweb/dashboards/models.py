"""Pages that people put together: charts and tables of other pages, side by side."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

LONGEST_NAME, LONGEST_PATH, LONGEST_PART = 100, 2_000, 200


class Dashboard(models.Model):
    """A page of tiles; its user arranges it, and those who run tests do where it is the team's."""

    name = models.CharField(max_length=LONGEST_NAME)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="dashboards")
    # Everybody has it in the list.
    is_team = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class Tile(models.Model):
    """A view of the dashboard, or one chart or table of it, as it is whenever it is looked at."""

    class Width(models.TextChoices):
        HALF = "half", _("half of the page")
        WHOLE = "whole", _("the whole width")

    dashboard = models.ForeignKey(Dashboard, on_delete=models.CASCADE, related_name="tiles")
    # Path and query string, without the site.
    path = models.CharField(max_length=LONGEST_PATH)
    # A key of `benchweb.dashboards.parts`; empty is the whole view.
    part = models.CharField(max_length=LONGEST_PART, blank=True)
    width = models.CharField(max_length=5, choices=Width.choices, default=Width.HALF)
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return self.path
