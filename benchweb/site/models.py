"""What admins have set."""

from django.db import models


class SiteSetting(models.Model):
    """One setting of the installation that an admin chose; without a row it is the built-in one."""

    # As in the environment, without BENCHWEB_.
    name = models.CharField(max_length=60, unique=True)
    value = models.JSONField()

    def __str__(self) -> str:
        return self.name
