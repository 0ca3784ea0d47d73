"""Rename an account, such as one whose name is another's but for its case."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from benchweb.accounts.user_names import is_possible_name


class Command(BaseCommand):
    """Rename an account; its rows, roles, password and tokens stay."""

    help = "rename an account: its roles, password, tokens and rows stay"

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name as it is spelled now, and the new one."""
        parser.add_argument("name")
        parser.add_argument("new_name")

    def handle(self, *_: Any, **options: Any) -> None:
        """Rename it, or say why not."""
        name, new = options["name"], User.normalize_username(options["new_name"])
        if not is_possible_name(new):
            raise CommandError("At most 150 letters, digits and @ . + - _ make a name.")
        try:
            renamed = User.objects.filter(username=name).update(username=new)
        except IntegrityError as error:
            raise CommandError(f"There is an account {new!r} already, perhaps spelled otherwise.") from error
        if not renamed:
            raise CommandError(f"There is no account {name!r}; names are spelled here exactly as they are stored.")
        self.stdout.write(f"{name} is {new} from now on.")
