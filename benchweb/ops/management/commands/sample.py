"""`manage.py sample`: make the sample environment, or with --remove remove it and all else that is made up."""

import os
import traceback
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchweb.ops import sample
from benchweb.ops.running.home import Home

_NICENESS = 15


class Command(BaseCommand):
    """Make the sample once, or remove it."""

    help = "Make the sample environment: 60 nights that nobody measured; --remove removes it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --remove, and --if-new for `up`."""
        parser.add_argument("--remove", action="store_true", help="remove it, and all else that is made up")
        parser.add_argument("--if-new", action="store_true", help="only in a new installation that had none yet")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make or remove."""
        if options["remove"]:
            self.stdout.write(f"Removed {sample.remove():,} runs and everything that hung on them.")
        elif options["if_new"]:
            os.nice(_NICENESS)
            try:
                self._tell(sample.make_if_due(Home.from_environment()))
            except Exception:
                # Nothing of it is there; the next start tries again, and not this one all the time.
                self.stderr.write(traceback.format_exc())
        else:
            self._tell(sample.make())

    def _tell(self, points: int | None) -> None:
        self.stdout.write(f"The sample is there: {points:,} points." if points else "There is a sample already.")
