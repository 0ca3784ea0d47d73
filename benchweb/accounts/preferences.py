"""Keep how a user wants the pages, with the account and in cookies of the browser, so that no page has to ask."""

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse

from benchweb.accounts.models import Preferences
from benchweb.common.addresses import site_path

# The scripts read these two.
ZONE_COOKIE = "chosen_zone"
THEME_COOKIE = "theme"


def preferences_of(user: User) -> Preferences:
    """Return a user's preferences; who chose nothing has none stored."""
    return Preferences.objects.filter(user=user).first() or Preferences(user=user)


def preferences_save(*, user: User, time_zone: str, language: str, theme: str) -> Preferences:
    """Store a user's preferences."""
    values = {"time_zone": time_zone, "language": language, "theme": theme}
    return Preferences.objects.update_or_create(user=user, defaults=values)[0]


def preferences_apply(response: HttpResponse, preferences: Preferences, *, clears: bool) -> None:
    """Set the cookies of what a user chose; `clears` those of what they leave to the browser."""
    cookies = {
        ZONE_COOKIE: preferences.time_zone,
        THEME_COOKIE: preferences.theme,
        settings.LANGUAGE_COOKIE_NAME: preferences.language,
    }
    for name, value in cookies.items():
        if value:
            response.set_cookie(
                name,
                value,
                path=site_path("/"),
                max_age=settings.LANGUAGE_COOKIE_AGE,
                samesite="Lax",
                secure=settings.LANGUAGE_COOKIE_SECURE,
            )
        elif clears:
            response.delete_cookie(name, path=site_path("/"), samesite="Lax")
