"""What mail programs read: that a program wrote it, and which mails belong together."""

from datetime import time

import pytest
from django.core.mail import send_mail

from benchweb.notifications.channels import channel_test
from benchweb.notifications.delivery import outbox
from benchweb.notifications.models import Channel
from benchweb.notifications.routing import notify
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.regressions import transitions
from tests.factories import make_alert
from tests.notifications.events import let_pass, make_event
from tests.notifications.receivers import MailServer

pytestmark = pytest.mark.django_db


def test_all_mail_says_that_a_program_wrote_it(mail_server: MailServer, mail: Channel) -> None:
    channel_test(channel=mail)
    send_mail("You are invited", "Come in.", None, ["ann@example.org"])
    assert [each["Auto-Submitted"] for each in mail_server.mails] == ["auto-generated", "auto-generated"]


def test_all_mails_about_an_alert_are_one_thread_and_each_has_an_id(mail_server: MailServer, mail: Channel) -> None:
    rule_create(RuleValues(name="mail", channel=mail))
    alert = make_alert()
    make_alert()
    transitions.acknowledge(alert_id=alert.pk, by=None, comment="known")
    transitions.fix(alert_id=alert.pk, by=None)
    assert outbox.send_due() == 4
    opened, of_other, acknowledged, fixed = mail_server.mails
    threads = [each["References"] for each in (opened, acknowledged, fixed)]
    assert len(set(threads)) == 1
    assert threads[0].startswith("<thread_") and threads[0].endswith("@example.org>")
    assert of_other["References"] not in threads
    assert [each["In-Reply-To"] for each in mail_server.mails] == [each["References"] for each in mail_server.mails]
    assert len({each["Message-ID"] for each in mail_server.mails}) == 4


def test_a_mail_tried_again_stays_in_its_thread(mail_server: MailServer, mail: Channel) -> None:
    rule_create(RuleValues(name="mail", channel=mail))
    mail_server.refused["bob@example.org"] = ["450 later", "250 fine"]
    make_alert()
    for _ in range(2):
        assert outbox.send_due() == 1
        let_pass(minutes=1)
    first, again = mail_server.mails
    assert (first["References"], first["Message-ID"]) == (again["References"], again["Message-ID"])


def test_the_digests_of_a_rule_are_a_thread_of_their_own(mail_server: MailServer, mail: Channel) -> None:
    rule_create(RuleValues(name="daily", channel=mail, digest_at=time(8)))
    for _ in range(2):
        notify(make_event(thread="alert-7"))
        let_pass(hours=24)
        assert (outbox.make_digests(), outbox.send_due()) == (1, 1)
    first, second = (each["References"] for each in mail_server.mails)
    assert first == second
    channel_test(channel=mail)
    assert mail_server.mails[-1]["References"] is None
