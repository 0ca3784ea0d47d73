"""`manage.py demo`: create the demo's data, or bring its engines' addresses up to date; with --disable, lock it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchweb.ops import demo
from benchweb.ops.running.home import Home


class Command(BaseCommand):
    """Fill the demo; safe to repeat and to interrupt."""

    help = "Create the demo's data, or bring its engines' addresses up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --disable."""
        parser.add_argument("--disable", action="store_true", help="disable the demo's user, sessions and tokens")

    def handle(self, *args: Any, **options: Any) -> None:
        """Fill the demo of this state folder, or disable its user."""
        if options["disable"]:
            was_enabled = demo.disable()
            self.stdout.write("The demo's user is disabled." if was_enabled else "No demo's user was enabled.")
            return
        try:
            self.stdout.write(demo.fill(Home.from_environment()))
        except demo.DemoError as error:
            raise CommandError(str(error)) from error
