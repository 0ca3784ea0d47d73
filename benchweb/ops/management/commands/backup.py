"""`manage.py backup FILE|FOLDER`: write a backup of the database, while everything goes on."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchweb.ops.backups.errors import BackupError
from benchweb.ops.backups.making import new_name
from benchweb.ops.backups.nightly import recorded_backup


class Command(BaseCommand):
    """Make one file with everything that is in the database, and what proves it."""

    help = "Write a backup of the database to a file, or to a new file in a folder. Everything goes on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add where to."""
        parser.add_argument("path", type=Path, metavar="FILE|FOLDER", help="where to")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it."""
        path: Path = options["path"].absolute()
        path = path / new_name(timezone.now()) if path.is_dir() else path
        try:
            record = recorded_backup(path)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{path} ({(record.size_bytes or 0) / 1e6:,.1f} MB)")
        self.stdout.write("The secret key is not in it: keep that too, apart from it.")
