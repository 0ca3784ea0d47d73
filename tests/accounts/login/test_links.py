"""Links in what workers send begin with the path that the site has of its host, in whichever thread they are made."""

from threading import Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from benchweb.accounts.login.password_reset import reset_mail
from tests.notifications.receivers import MailServer, body_of


def mailed() -> None:
    """Mail as a worker's thread does, and let go of its connection."""
    reset_mail("ada@example.org", "en")
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_mail_of_a_workers_thread_links_below_the_path(settings: Settings) -> None:
    settings.BASE_PATH = "/bench"
    settings.PUBLIC_URL = "https://tools.example.org/bench/"
    settings.EMAIL_BACKEND = "benchweb.site.mail.SiteEmailBackend"
    User.objects.create_user("ada", "ada@example.org", "a password of ada's")

    with MailServer() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        thread = Thread(target=mailed)
        thread.start()
        thread.join()
        [mail] = server.mails
    assert "https://tools.example.org/bench/login/new-password/" in body_of(mail, "plain")
