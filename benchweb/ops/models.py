"""Store what became of backups and removals, and what the database took on each day."""

from django.db import models


class Backup(models.Model):
    """One backup that was made or tried, and whether restoring it was tried."""

    # Its name in the folder of backups; empty where none was made.
    name = models.CharField(max_length=255, blank=True)
    begun_at = models.DateTimeField(db_index=True)
    ended_at = models.DateTimeField(null=True)
    size_bytes = models.BigIntegerField(null=True)
    # Why none was made.
    fault = models.TextField(blank=True)
    tested_at = models.DateTimeField(null=True)
    # Why it can't be restored.
    test_fault = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.name


class Removal(models.Model):
    """Something that an admin wants deleted with all it has; rows go in batches, and this stays."""

    class Removed(models.TextChoices):
        RUN = "run"
        HOST = "host"

    what = models.CharField(max_length=4, choices=Removed.choices)
    # Its id, which no row will have any more.
    of = models.BigIntegerField()
    name = models.CharField(max_length=500)
    requested_at = models.DateTimeField()
    runs = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["what", "of"], name="removal_once")]

    def __str__(self) -> str:
        return self.name


class StorageSample(models.Model):
    """What the database took on a day, and what was left on its disk: a forecast goes by such samples."""

    day = models.DateField(unique=True)
    database_bytes = models.BigIntegerField()
    # None where its disk can't be seen from the worker.
    free_bytes = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return str(self.day)
