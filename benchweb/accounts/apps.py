"""The accounts app."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Accounts, with the receivers of log-ins."""

    name = "benchweb.accounts"

    def ready(self) -> None:
        """Connect the receivers."""
        for name in ("audit.logins", "sessions"):
            import_module(f"benchweb.accounts.{name}")
