"""`manage.py rotate_secrets`: encrypt all stored secrets with the present BENCHWEB_SECRET_KEY."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model

from benchweb.hosts.models import Endpoint
from benchweb.idempotency.models import KeptAnswer
from benchweb.notifications.models import Channel
from benchweb.sharing.models import Share
from benchweb.site.models import SiteSecret
from benchweb.site.secrets import SecretUnreadable, is_of_present_key, rotated

_STORED: tuple[tuple[type[Model], str, str], ...] = (
    (Endpoint, "token_encrypted", "engine tokens"),
    (Channel, "secret_encrypted", "secrets of channels"),
    (Share, "token_encrypted", "share links"),
    (SiteSecret, "secret_encrypted", "password of the mail server"),
    (KeptAnswer, "answer_encrypted", "answers to repeated requests"),
)


# The key of an app, the seed of recovery codes.
_IN_FACTORS = ("secret", "seed")


class Command(BaseCommand):
    """Read each secret with any of the keys, and write it with the present one."""

    help = (
        "Encrypt all stored secrets with BENCHWEB_SECRET_KEY; former keys are read from BENCHWEB_SECRET_KEY_FALLBACKS."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Rotate all that can be read, tell what can't, and fail for the latter."""
        unreadable = 0
        for model, column, label in _STORED:
            changed, lost = _rotate(model, column)
            unreadable += lost
            self._tell(label, changed, lost)
        changed, lost = _rotate_factors()
        self._tell("second factors", changed, lost)
        if unreadable + lost:
            raise CommandError("Name the key they were stored with in BENCHWEB_SECRET_KEY_FALLBACKS, and try again.")

    def _tell(self, label: str, changed: int, lost: int) -> None:
        self.stdout.write(f"{label}: {changed} rotated" + (f", {lost} can't be read with any key" if lost else ""))


def _rotate_factors() -> tuple[int, int]:
    """Rotate the secrets inside the documents of second factors; return as `_rotate` does."""
    changed, unreadable = 0, 0
    for pk, data in Authenticator.objects.values_list("pk", "data").iterator():
        secrets = {name: data[name].encode() for name in _IN_FACTORS if name in data}
        if all(map(is_of_present_key, secrets.values())):
            continue
        try:
            new = data | {name: rotated(stored).decode() for name, stored in secrets.items()}
        except SecretUnreadable:
            unreadable += 1
            continue
        changed += Authenticator.objects.filter(pk=pk, data=data).update(data=new)
    return changed, unreadable


def _rotate(model: type[Model], column: str) -> tuple[int, int]:
    """Rotate one column; return how many values were changed, and how many no key can read."""
    changed, unreadable = 0, 0
    for pk, stored in model._default_manager.values_list("pk", column).iterator():
        if not stored or is_of_present_key(stored):
            continue
        try:
            new = rotated(stored)
        except SecretUnreadable:
            unreadable += 1
            continue
        # Somebody may store another secret meanwhile: that one stays.
        changed += model._default_manager.filter(pk=pk, **{column: bytes(stored)}).update(**{column: new})
    return changed, unreadable
