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


class Installation(models.Model):
    """Where this database is the original: one row, made by the first worker; without it nothing is known yet."""

    # PostgreSQL's identifier of the cluster: a dump that is restored elsewhere has another.
    cluster = models.CharField(max_length=40, blank=True)
    # The history of its writes: a standby that is promoted begins another, a copied folder does not.
    timeline = models.CharField(max_length=8, blank=True)
    # Hashes of the database's machine and folder, `machine:folder`; each empty where it can't be read.
    place = models.CharField(max_length=64, blank=True)
    # What people call it: the address of its pages, else its machine.
    name = models.CharField(max_length=500, blank=True)
    original_since = models.DateTimeField()
    # Set by a restore, or by hand: until somebody says otherwise.
    copy_since = models.DateTimeField(null=True)
    copy_of = models.CharField(max_length=500, blank=True)
    # Of when its data is.
    copied_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name
