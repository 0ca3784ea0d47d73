"""`manage.py restore FILE`: have a backup in place of the database."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchweb.ops.backups.errors import BackupError
from benchweb.ops.backups.restoring import backup_restore
from benchweb.ops.running.home import Home
from benchweb.ops.running.offline import forget_prepared


class Command(BaseCommand):
    """Restore beside the database, prove it, and put it in its place: whatever fails changes nothing."""

    help = "Restore a backup: into an empty installation, or with --over in place of what is there."
    # A key that is missing or another is told of in a sentence of its own.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what, and whether over what is there."""
        parser.add_argument("path", type=Path, metavar="FILE", help="the backup")
        parser.add_argument("--over", action="store_true", help="in place of the data that this installation has")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore it."""
        try:
            manifest = backup_restore(options["path"].absolute(), over=options["over"], tell=self.stdout.write)
        except BackupError as error:
            raise CommandError(str(error)) from error
        forget_prepared(Home(settings.BENCHWEB_HOME))
        self.stdout.write(
            f"Restored: {manifest.of} as of {manifest.made_at:%Y-%m-%d %H:%M} UTC. This is a copy now: it measures "
            "nothing and sends nothing. Start it, and where it is to be the original: manage.py make_original"
        )
