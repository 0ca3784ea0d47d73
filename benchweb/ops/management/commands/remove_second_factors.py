"""`manage.py remove_second_factors NAME`: let somebody in by their password alone who has lost phone and codes."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    """Remove a user's authenticator app, passkeys and recovery codes."""

    help = "Remove a user's authenticator app, passkeys and recovery codes; make sure first that it is them who ask."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the user's name."""
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Remove them."""
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['name']}.")
        removed, _ = Authenticator.objects.filter(user=user).delete()
        self.stdout.write(f"{removed} second factors of {user.get_username()} removed.")
