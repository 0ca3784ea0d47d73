"""`manage.py deactivate_user NAME`: shut the account of somebody who has left."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchweb.accounts.models import ApiToken, UserSession
from benchweb.accounts.roles.grants import RoleError, user_deactivate


class Command(BaseCommand):
    """Deactivate a user: sessions end, tokens are refused, and nobody logs in to the account."""

    help = "Deactivate a user: sessions end, tokens are refused; the last admin stays."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the user's name."""
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Deactivate them, and say what ended."""
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['name']}.")
        sessions = UserSession.objects.filter(user=user).count()
        tokens = ApiToken.objects.filter(user=user, revoked_at=None).count()
        try:
            user_deactivate(user=user, by=None)
        except RoleError as error:
            raise CommandError(error.message) from error
        ended = f"Sessions ended: {sessions}; tokens refused: {tokens}."
        self.stdout.write(f"{user.get_username()} is deactivated. {ended}")
