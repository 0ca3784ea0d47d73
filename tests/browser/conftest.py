"""What the served site is set up with, beyond its defaults."""

import pytest


@pytest.fixture
def sends_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the site be one that mails links; nobody listens at its mail server."""
    monkeypatch.setenv("BENCHWEB_SMTP_URL", "smtp://127.0.0.1:1")
    monkeypatch.setenv("BENCHWEB_PUBLIC_URL", "https://bench.example.org")
