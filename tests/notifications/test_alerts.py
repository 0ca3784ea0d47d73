"""What becomes of an alert is told once, in the transaction that changed it."""

import pytest
from django.db import transaction
from django.utils import translation

from benchweb.hosts.models import Host, Pair
from benchweb.hosts.services import pair_create
from benchweb.labels import label_add
from benchweb.notifications.delivery import outbox
from benchweb.notifications.models import Channel, Delivery
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.regressions import transitions
from benchweb.regressions.models import Alert
from tests.factories import make_alert, make_channel, make_endpoint, make_environment, make_pair, make_user
from tests.notifications.receivers import MailServer, body_of
from tests.regressions.judged import judged, quiet

pytestmark = pytest.mark.django_db


def told() -> list[tuple[str, str]]:
    """Return the transition and the title of every message, in their order."""
    payloads = Delivery.objects.order_by("pk").values_list("payload", flat=True)
    return [(payload["data"]["transition"], payload["data"]["title"]) for payload in payloads]


def test_an_alert_is_told_when_it_opens_and_when_it_ends() -> None:
    rule_create(RuleValues(name="all", channel=make_channel()))
    pair = make_pair()
    alert = make_alert(pair=pair)
    with translation.override("zh-hans"):
        transitions.acknowledge(alert_id=alert.pk, by=make_user("anna", "secret words"), comment="known")
    transitions.fix(alert_id=alert.pk, by=None)
    title = f"{pair}: 2 runs finished with nothing received"
    assert told() == [("open", title), ("acknowledged", title), ("fixed", title)]
    last = Delivery.objects.order_by("pk")[1].payload["data"]
    assert last["text"] == "acknowledged, anna\nknown"
    assert last["url"].endswith(f"/alerts/{alert.pk}")
    assert sorted(last["host_ids"]) == sorted([pair.source.host_id, pair.sink.host_id])


def test_a_rule_takes_alerts_by_the_label_of_a_host_or_of_the_pair() -> None:
    rule_create(RuleValues(name="racks", channel=make_channel(), host_label="rack-7"))
    by_host, by_pair, other = make_pair(), make_pair(), make_pair()
    label_add(Host.objects.filter(pk=by_host.sink.host_id), "rack-7")
    label_add(Pair.objects.filter(pk=by_pair.pk), "rack-7")
    pairs = [Pair.objects.get(pk=pair.pk) for pair in (by_host, by_pair, other)]
    alerts = [make_alert(pair=pair) for pair in pairs]
    payloads = Delivery.objects.order_by("pk").values_list("payload", flat=True)
    assert [payload["data"]["url"].split("/")[-1] for payload in payloads] == [str(each.pk) for each in alerts[:2]]


def test_what_is_undone_is_not_told() -> None:
    rule_create(RuleValues(name="all", channel=make_channel()))
    with pytest.raises(RuntimeError), transaction.atomic():
        make_alert()
        raise RuntimeError
    assert told() == []


def test_rules_choose_by_kind_and_transition() -> None:
    rule_create(RuleValues(name="changes", channel=make_channel("changes"), alert_kinds=["change"]))
    rule_create(RuleValues(name="ends", channel=make_channel("ends"), transitions=["fixed"]))
    alert = make_alert()
    transitions.fix(alert_id=alert.pk, by=None)
    assert [transition for transition, _title in told()] == ["fixed"]


def test_many_series_that_fall_together_are_one_message_and_their_recovery_another() -> None:
    rule_create(RuleValues(name="all", channel=make_channel()))
    pair = make_pair()
    quiet(pair, series=6)
    judged(pair, [0.7] * 8, first=20, series=6)
    assert [transition for transition, _title in told()] == ["open"]
    assert Alert.objects.get(state="open").series.count() == 6
    judged(pair, [1.0] * 10, first=28, series=6)
    assert [transition for transition, _title in told()] == ["open", "recovered"]


def test_series_of_six_pairs_that_fall_on_one_host_are_one_message_that_names_it_and_their_recovery_another() -> None:
    rule_create(RuleValues(name="all", channel=make_channel()))
    host, *peers = (make_endpoint() for _ in range(4))
    environment = make_environment()
    ends = [*((host, peer) for peer in peers), *((peer, host) for peer in peers), (peers[0], peers[1])]
    *pairs, beside = (pair_create(source=source, sink=sink, environment=environment) for source, sink in ends)
    quiet([*pairs, beside], nights=13, series=2)
    for night in range(13, 19):
        judged(pairs, [0.7], first=night, series=2)
        judged(beside, [1.0], first=night, series=2)
    alert = Alert.objects.get()
    assert (alert.state, alert.host, alert.severity, alert.series.count()) == ("open", host.host, "critical", 12)
    ((transition, title),) = told()
    assert transition == "open"
    assert title.startswith(f"Host {host.host}: TCP stream · Throughput, received −30.")
    judged(pairs, [1.0] * 4, first=19, series=2)
    assert [transition for transition, _title in told()] == ["open", "recovered"]


def test_markup_in_the_name_of_a_host_and_in_a_comment_is_text_in_mail(mail: Channel, mail_server: MailServer) -> None:
    rule_create(RuleValues(name="mail", channel=mail))
    alert = make_alert(pair=make_pair(source=make_endpoint(host_name="<b>{{ a }}</b>")))
    comment = "<script>alert(1)</script>\r\n.\r\nBcc: eve@example.org {% debug %}"
    transitions.acknowledge(alert_id=alert.pk, by=None, comment=comment)
    assert outbox.send_due() == 2
    mails = mail_server.mails
    assert [mail["Bcc"] for mail in mails] == [None, None]
    assert "<b>{{ a }}</b>" in mails[0]["Subject"]
    for each in mails:
        html = body_of(each, "html")
        assert "<b>{{" not in html
        assert "&lt;b&gt;{{ a }}&lt;/b&gt;" in html
    assert "<script>" not in body_of(mails[1], "html")
    assert comment.replace("\r\n", "\n") in body_of(mails[1], "plain").replace("\r\n", "\n")
