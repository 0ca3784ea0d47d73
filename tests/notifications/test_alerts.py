"""What becomes of an alert is told once, in the transaction that changed it."""

import pytest
from django.db import transaction
from django.utils import translation

from benchweb.notifications.models import Delivery
from benchweb.notifications.services import RuleValues, rule_create
from benchweb.regressions import transitions
from benchweb.regressions.models import Alert
from tests.factories import make_alert, make_channel, make_pair, make_user
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
