"""`manage.py make_original`: let this copy be the original installation from now on."""

from typing import Any

from django.core.management.base import BaseCommand

from benchweb.ops.copies import original_make


class Command(BaseCommand):
    """Let schedules, runs, probes and messages begin here."""

    help = "Let this installation be the original: it measures and sends from now on. Stop the former one first."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it."""
        unsent = original_make()
        self.stdout.write("This is the original now: it measures, and sends messages.")
        if unsent:
            self.stdout.write(f"{unsent} messages that waited in the backup are not sent.")
