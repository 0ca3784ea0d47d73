"""`manage.py demo`: create the demo's data, or bring its engines' addresses up to date."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchweb.ops import demo
from benchweb.ops.home import Home


class Command(BaseCommand):
    """Fill the demo; safe to repeat and to interrupt."""

    help = "Create the demo's data, or bring its engines' addresses up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        """Fill the demo of this state folder."""
        try:
            self.stdout.write(demo.fill(Home.from_environment()))
        except demo.DemoError as error:
            raise CommandError(str(error)) from error
