"""`manage.py make_copy`: let this installation be quiet, such as one whose folder or volume was copied."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchweb.site.installation import copy_mark, own_name


class Command(BaseCommand):
    """Let nothing be measured and nothing be sent from here."""

    help = "Let this installation be a copy: nothing is measured and nothing is sent until `make_original`."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add of what, and of when."""
        parser.add_argument("--of", default="", metavar="NAME", help="what it is a copy of; else this installation")
        parser.add_argument("--made-at", type=datetime.fromisoformat, metavar="TIME", help="of when its data is")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it."""
        copy_mark(of=options["of"] or own_name(), made_at=options["made_at"])
        self.stdout.write("This is a copy now: it measures nothing and sends nothing.")
