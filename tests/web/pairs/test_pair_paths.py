"""The data path on pages: told on the pair's page, never green in lists while it is blocked, followed when checked."""

import pytest
from django.db.models.functions import Now
from django.test import Client

from benchweb.common import celery_client
from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.path_checks import PATHS_TASK
from tests.factories import make_endpoint, make_pair

REASON = "TCP passes, UDP doesn't: open UDP 7411 of d at 192.0.2.9 for c."
FOUND = {
    "address": "192.0.2.9",
    "data_port": 7411,
    "tcp": {"passes": True, "round_trip_seconds": 0.0002},
    "udp": {"passes": False, "fault": "timed_out"},
    "dead": ["2001:db8::9"],
}


@pytest.fixture
def blocked(transactional_db: None) -> Pair:
    pair = make_pair(source=make_endpoint(host_name="c"), sink=make_endpoint(host_name="d"))
    Endpoint.objects.update(status="answered")
    Pair.objects.update(path_status="blocked", path_reason=REASON, path_found=FOUND, path_checked_at=Now())
    pair.refresh_from_db()
    return pair


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(celery_client, "send", lambda *call: calls.append(call))
    return calls


def test_a_blocked_path_is_told_wherever_the_pair_is_listed(signed_in: Client, blocked: Pair) -> None:
    for page in ("/pairs", "/pairs?path=blocked", f"/hosts/{blocked.sink.host_id}", "/"):
        text = signed_in.get(page).content.decode()
        assert '<span class="state state-blocked" title="TCP passes, UDP doesn' in text, page
    assert "state-blocked" not in signed_in.get("/pairs?path=passes").content.decode()


def test_the_page_of_a_pair_says_what_passes_and_what_to_open(signed_in: Client, blocked: Pair) -> None:
    text = signed_in.get(f"/pairs/{blocked.pk}").content.decode()
    assert "TCP passes, UDP doesn&#x27;t: open UDP 7411 of d at 192.0.2.9 for c." in text
    assert '<span class="mono">2001:db8::9</span> doesn\'t carry both' in text
    assert "not known" in text


def test_a_check_is_asked_for_and_followed_until_it_is_recorded(
    signed_in: Client, blocked: Pair, sent: list[tuple[object, ...]]
) -> None:
    htmx = {"HX-Request": "true"}
    panel = signed_in.post(f"/pairs/{blocked.pk}/check", headers=htmx).content.decode()
    assert sent == [(PATHS_TASK, [blocked.pk])]
    assert "every 2s" in panel
    assert "checking again…" in panel
    assert blocked.path_checked_at is not None
    values = {"requested_at": str(blocked.path_checked_at.timestamp()), "since": blocked.path_checked_at.isoformat()}
    assert "every 2s" in signed_in.post(f"/pairs/{blocked.pk}/watch", values, headers=htmx).content.decode()
    Pair.objects.update(path_status="passes", path_reason="", path_checked_at=Now())
    after = signed_in.post(f"/pairs/{blocked.pk}/watch", values, headers=htmx).content.decode()
    assert "every 2s" not in after
    assert "state-passes" in after


def test_without_scripts_the_page_comes_back(signed_in: Client, blocked: Pair, sent: list[tuple[object, ...]]) -> None:
    response = signed_in.post(f"/pairs/{blocked.pk}/check")
    assert response["Location"] == f"/pairs/{blocked.pk}"
    assert len(sent) == 1
    assert signed_in.get(f"/pairs/{blocked.pk}/check").status_code == 405


def test_a_pair_that_was_never_checked_is_not_green(signed_in: Client) -> None:
    pair = make_pair()
    Endpoint.objects.update(status="answered")
    assert "state-pending" in signed_in.get("/pairs").content.decode()
    assert "state-passes" not in signed_in.get(f"/pairs/{pair.pk}").content.decode()
