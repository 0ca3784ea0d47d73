"""Store what admins have set."""

from django.db import models


class SiteSetting(models.Model):
    """One setting of the installation that an admin chose; without a row it is the built-in one."""

    # As in benchweb.settings.
    name = models.CharField(max_length=60, unique=True)
    value = models.JSONField()

    def __str__(self) -> str:
        return self.name


class SiteSecret(models.Model):
    """A setting that is never shown again, such as the password of the mail server."""

    name = models.CharField(max_length=60, unique=True)
    secret_encrypted = models.BinaryField(default=b"")

    def __str__(self) -> str:
        return self.name
