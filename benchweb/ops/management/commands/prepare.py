"""`manage.py prepare`: bring the database, the static files and the translations to this version."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from benchweb.ops import demo, sample
from benchweb.ops.running.home import Home
from benchweb.ops.translations import compile_translations


class Command(BaseCommand):
    """Migrate, collect static files, compile translations; safe to repeat and to interrupt."""

    help = "Bring the database, the static files and the translations to this version."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do all; each step starts again where it was interrupted."""
        call_command("migrate", interactive=False, verbosity=0)
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
