"""`manage.py prepare`: bring the database, the static files and the translations to this version."""

from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from benchweb.ops import demo, sample
from benchweb.ops.backups.upgrading import migrate_behind_backup
from benchweb.ops.running.home import Home
from benchweb.ops.translations import compile_translations
from benchweb.site.installation import installation_note


class Command(BaseCommand):
    """Migrate, collect static files, compile translations; safe to repeat and to interrupt."""

    help = "Bring the database, the static files and the translations to this version."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add whether a backup goes before an upgrade."""
        parser.add_argument("--backup", action="store_true", help="make a backup before migrating, and go back to it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do all; each step starts again where it was interrupted."""
        if options["backup"]:
            migrate_behind_backup(Home.from_environment().folder / "backups")
        else:
            call_command("migrate", interactive=False, verbosity=0)
        # Where the database's role may not be told where it is, nothing is noted.
        with suppress(DatabaseError):
            installation_note()
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        compile_translations(settings.LOCALE_PATHS[0])
        if settings.DEMO:
            # Who looks in while the engine is still being built may log in.
            demo.account_open(Home.from_environment())
            sample.decide(Home.from_environment())
        else:
            # A database that a demo was in, such as a copy, may be served without it.
            demo.disable()
        self.stdout.write("The database and the static files are ready.")
