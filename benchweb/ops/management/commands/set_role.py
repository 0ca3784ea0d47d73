"""`manage.py set_role`: give a user a role, everywhere or in one environment; the way in where nobody is an admin."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from benchweb.accounts.models import Grant, Role
from benchweb.common.names import name_key
from benchweb.hosts.models import Environment


class Command(BaseCommand):
    """Set or take a role."""

    help = "Set a user's role, everywhere or in one environment; 'none' takes it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("user", help="the user's name")
        parser.add_argument("role", choices=[*Role.values, "none"])
        parser.add_argument("--environment", metavar="NAME", help="in this environment only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Set it, and say so."""
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']}.")
        environment = _environment(options["environment"])
        if options["role"] == Role.ADMIN and environment:
            raise CommandError("An admin is one everywhere: leave out --environment.")
        if options["role"] == "none":
            Grant.objects.filter(user=user, environment=environment).delete()
        else:
            Grant.objects.update_or_create(
                user=user, team=None, environment=environment, defaults={"role": options["role"]}
            )
        where = f"in {environment.name}" if environment else "everywhere"
        self.stdout.write(f"{user.get_username()} has the role {options['role']} {where}.")


def _environment(name: str | None) -> Environment | None:
    if not name:
        return None
    environment = Environment.objects.filter(name_key=name_key(name), archived_at=None).first()
    if environment is None:
        raise CommandError(f"There is no environment {name}.")
    return environment
