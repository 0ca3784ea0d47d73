"""`manage.py prepare`: bring the database and the static files to this version."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Migrate and collect static files; safe to repeat and to interrupt."""

    help = "Bring the database and the static files to this version."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do both; each step starts again where it was interrupted."""
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        self.stdout.write("The database and the static files are ready.")
