"""The app of the installation's settings."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Settings that admins change on a page."""

    name = "benchweb.site"
    default_auto_field = "django.db.models.BigAutoField"
