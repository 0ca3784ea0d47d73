"""The demo's account: its name is known to all, so it is shut whenever the demo is off."""

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser

USERNAME = "demo"


def is_shut(user: AbstractBaseUser) -> bool:
    """Tell whether the user is the demo's while the demo is off: nothing lets them in then, nor their tokens."""
    return user.get_username() == USERNAME and not settings.DEMO
