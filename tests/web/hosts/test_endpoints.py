"""Endpoints: add, edit, archive, check, watch, pin."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.catalog.reasons import Reason
from benchweb.hosts.endpoints.records import CheckOutcome, endpoint_record_check
from benchweb.hosts.endpoints.services import CHECK_TASK, endpoint_pin_first, endpoint_update
from benchweb.hosts.enrolment.rotation import rotation_end
from benchweb.hosts.models import Endpoint
from benchweb.hosts.services import archive
from benchweb.site.secrets import decrypted
from tests.factories import make_endpoint, make_pair

PINNED = "sha256:" + "a" * 64
SEEN = "sha256:" + "b" * 64
VALUES = {"control_address": "192.0.2.10:7410", "network_mode": "host", "token": ""}


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the endpoints whose check is asked for."""
    asked: list[int] = []

    def send(task: str, *ids: int, **options: object) -> None:
        asked.extend(ids if task == CHECK_TASK else ())

    monkeypatch.setattr("benchweb.common.celery_client.send", send)
    return asked


def answered(endpoint: Endpoint, fingerprint: str = PINNED, **values: Any) -> None:
    """Record a check that found the engine."""
    outcome = CheckOutcome("answered", fingerprint=fingerprint, **(dict[str, Any](catalog_version=1) | values))
    endpoint_pin_first(endpoint=endpoint, fingerprint=fingerprint)
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=outcome)


def test_an_endpoint_is_added_to_a_host(signed_in: Client) -> None:
    host = make_endpoint().host
    response = signed_in.post(f"/hosts/{host.pk}/endpoints/new", VALUES | {"token": "t", "network_mode": "terway"})
    assert response.headers["Location"] == f"/hosts/{host.pk}"
    assert sorted(host.endpoints.values_list("network_mode", flat=True)) == ["host", "terway"]


def test_an_archived_host_takes_no_endpoint(signed_in: Client) -> None:
    host = make_endpoint(host_name="alder").host
    archive(row=host)
    text = signed_in.post(f"/hosts/{host.pk}/endpoints/new", VALUES).content.decode()
    assert "Host alder is archived: restore it, or choose another." in text
    assert host.endpoints.count() == 1


def test_an_edited_endpoint_keeps_its_token_when_none_is_typed(signed_in: Client) -> None:
    endpoint = make_endpoint(token="secret", control_address="192.0.2.10:7410")
    page = signed_in.get(f"/endpoints/{endpoint.pk}/edit").content.decode()
    assert "secret" not in page
    assert "Leave empty to keep the stored token." in page
    signed_in.post(f"/endpoints/{endpoint.pk}/edit", VALUES | {"endpoint_name": "second"})
    endpoint.refresh_from_db()
    assert (endpoint.control_address, endpoint.name) == ("192.0.2.10:7410", "second")
    assert decrypted(endpoint.token_encrypted) == "secret"


def test_a_refused_edit_changes_nothing_and_keeps_what_was_typed(signed_in: Client) -> None:
    endpoint = make_endpoint(control_address="192.0.2.1:7410")
    response = signed_in.post(f"/endpoints/{endpoint.pk}/edit", VALUES | {"control_address": "a b:1"})
    assert "is neither a host name nor an IP address" in response.content.decode()
    assert response.context["form"]["control_address"].value() == "a b:1"
    endpoint.refresh_from_db()
    assert endpoint.control_address == "192.0.2.1:7410"


def test_archiving_an_endpoint_names_its_pairs_and_hides_them(signed_in: Client) -> None:
    pair = make_pair()
    assert "Also archived: 1 pair." in signed_in.get(f"/endpoints/{pair.source_id}/archive").content.decode()
    alone = signed_in.get(f"/endpoints/{make_endpoint().pk}/archive").content.decode()
    assert "<li>New runs can&#x27;t use it.</li>" in alone
    signed_in.post(f"/endpoints/{pair.source_id}/archive")
    pair.refresh_from_db()
    assert pair.archived_at is not None
    signed_in.post(f"/endpoints/{pair.source_id}/restore")
    assert Endpoint.objects.get(pk=pair.source_id).archived_at is None


def test_an_endpoint_of_an_archived_host_is_not_restored(signed_in: Client) -> None:
    endpoint = make_endpoint()
    archive(row=endpoint.host)
    response = signed_in.post(f"/endpoints/{endpoint.pk}/restore", follow=True)
    assert "is archived: restore the host first." in response.content.decode()
    assert Endpoint.objects.get().archived_at is not None


def test_check_asks_a_worker_and_the_panel_then_looks_again(signed_in: Client, checks: list[int]) -> None:
    endpoint = make_endpoint()
    answered(endpoint)
    text = signed_in.post(f"/endpoints/{endpoint.pk}/check", headers={"HX-Request": "true"}).content.decode()
    assert checks == [endpoint.pk]
    assert "checking" in text
    assert 'hx-trigger="every 2s"' in text


def test_check_without_a_script_goes_back_to_the_host(signed_in: Client, checks: list[int]) -> None:
    endpoint = make_endpoint()
    assert signed_in.post(f"/endpoints/{endpoint.pk}/check").headers["Location"] == f"/hosts/{endpoint.host_id}"
    assert checks == [endpoint.pk]


def test_a_panel_that_waits_for_its_check_asks_for_no_other(signed_in: Client, checks: list[int]) -> None:
    endpoint = make_endpoint()
    waiting = {"requested_at": timezone.now().timestamp(), "since": "", "shown": "unknown"}
    text = signed_in.post(f"/endpoints/{endpoint.pk}/watch", waiting).content.decode()
    assert "checking" in text
    assert checks == []


def test_a_panel_of_a_silent_engine_asks_again_by_itself(signed_in: Client, checks: list[int]) -> None:
    endpoint = make_endpoint()
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=CheckOutcome("unreachable", "connection refused"))
    waiting = {"requested_at": timezone.now().timestamp(), "since": "", "shown": "unreachable"}
    text = signed_in.post(f"/endpoints/{endpoint.pk}/watch", waiting).content.decode()
    assert checks == [endpoint.pk]
    # What was found last stays while it looks again: a dead engine would seem to be checked for ever.
    assert all(words in text for words in ("state-unreachable", "checking again…", "connection refused"))
    assert f'id="endpoint-{endpoint.pk}-body"' not in text


def test_a_panel_turns_green_and_stops_when_the_engine_answers(signed_in: Client, checks: list[int]) -> None:
    endpoint = make_endpoint()
    answered(endpoint, engine_version="0.1.0", round_trip_seconds=0.0005, clock_offset_seconds=0.002)
    waiting = {"requested_at": timezone.now().timestamp(), "since": "", "shown": "unknown"}
    text = signed_in.post(f"/endpoints/{endpoint.pk}/watch", waiting).content.decode()
    assert "state-answered" in text
    assert "every 2s" not in text
    assert f'id="endpoint-{endpoint.pk}-body" hx-swap-oob="true"' in text
    assert checks == []


def test_a_check_that_no_worker_records_is_said_to_be_overdue(signed_in: Client, checks: list[int]) -> None:
    endpoint = make_endpoint()
    long_ago = (timezone.now() - timedelta(seconds=21)).timestamp()
    text = signed_in.post(f"/endpoints/{endpoint.pk}/watch", {"requested_at": long_ago, "since": ""}).content.decode()
    assert "No worker has reported a check within 20 s." in text
    assert "every 2s" not in text
    assert checks == []


@pytest.mark.parametrize("requested_at", ["", "soon", "nan", "1e400", "-1e20"])
def test_a_time_that_cannot_be_read_counts_as_none(signed_in: Client, checks: list[int], requested_at: str) -> None:
    endpoint = make_endpoint()
    assert signed_in.post(f"/endpoints/{endpoint.pk}/watch", {"requested_at": requested_at}).status_code == 200


def test_the_command_with_the_token_goes_once_an_engine_has_answered(signed_in: Client) -> None:
    host = make_endpoint().host
    values = VALUES | {"token": "secret-of-the-engine", "endpoint_name": "second"}
    signed_in.post(f"/hosts/{host.pk}/endpoints/new", values)
    endpoint = host.endpoints.get(name="second")
    url = f"/hosts/{endpoint.host_id}"
    assert "secret-of-the-engine" in signed_in.get(url).content.decode()
    answered(endpoint)
    assert "secret-of-the-engine" not in signed_in.get(url).content.decode()


def test_the_command_shows_the_token_only_to_whoever_entered_it(signed_in: Client) -> None:
    endpoint = make_endpoint(token="secret-of-the-engine")
    asked = [signed_in.get(f"/hosts/{endpoint.host_id}"), signed_in.post(f"/endpoints/{endpoint.pk}/watch")]
    assert all("secret-of-the-engine" not in answer.content.decode() for answer in asked)
    assert "THE-TOKEN" in asked[0].content.decode()
    address = {"control_address": endpoint.control_address}
    signed_in.post(f"/endpoints/{endpoint.pk}/edit", VALUES | address | {"token": "entered-here"})
    assert "entered-here" in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    # Entered by somebody else since.
    endpoint_update(endpoint=endpoint, control_address=endpoint.control_address, token="entered-elsewhere")
    assert "entered-elsewhere" not in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()


@pytest.mark.parametrize(
    "change", [{"control_address": "192.0.2.66:7410"}, {"fingerprint": SEEN}, {"fingerprint": ""}], ids=str
)
def test_an_edit_to_another_engine_asks_for_the_token_again(signed_in: Client, change: dict[str, str]) -> None:
    endpoint = make_endpoint(token="secret", control_address="192.0.2.10:7410", fingerprint=PINNED)
    before = Endpoint.objects.values_list("control_address", "fingerprint").get()
    values = VALUES | {"fingerprint": PINNED} | change
    answer = signed_in.post(f"/endpoints/{endpoint.pk}/edit", values)
    assert answer.context["form"].errors.keys() == {"token"}
    assert Endpoint.objects.values_list("control_address", "fingerprint").get() == before
    signed_in.post(f"/endpoints/{endpoint.pk}/edit", values | {"token": "new"})
    endpoint.refresh_from_db()
    assert {name: getattr(endpoint, name) for name in change} == change
    assert decrypted(endpoint.token_encrypted) == "new"


def test_an_engine_with_another_catalog_is_said_so(signed_in: Client) -> None:
    endpoint = make_endpoint()
    answered(endpoint, engine_version="0.0.9", catalog_version=0)
    assert "older than this dashboard&#x27;s 1" in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()


def test_another_fingerprint_is_explained_and_pinned_only_deliberately(signed_in: Client, checks: list[int]) -> None:
    endpoint = make_endpoint(token="secret")
    answered(endpoint)
    other = CheckOutcome("refused", "other certificate", fingerprint=SEEN)
    endpoint_record_check(endpoint_id=endpoint.pk, outcome=other)
    text = signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    assert "The engine's certificate differs from the pinned one." in text
    assert (PINNED in text, SEEN in text) == (True, True)
    assert Endpoint.objects.get().fingerprint == PINNED
    refused = signed_in.post(f"/endpoints/{endpoint.pk}/pin", {"fingerprint": SEEN}, follow=True)
    assert "enter the engine&#x27;s token again" in refused.content.decode()
    assert Endpoint.objects.get().fingerprint == PINNED
    signed_in.post(f"/endpoints/{endpoint.pk}/pin", {"fingerprint": SEEN, "token": "entered-again"})
    pinned = Endpoint.objects.get()
    assert (pinned.fingerprint, decrypted(pinned.token_encrypted)) == (SEEN, "entered-again")


@pytest.mark.parametrize("fingerprint", ["", "sha256:" + "c" * 64, "sha256:12"])
def test_a_fingerprint_that_was_not_seen_is_not_pinned(signed_in: Client, fingerprint: str) -> None:
    endpoint = make_endpoint()
    answered(endpoint)
    signed_in.post(f"/endpoints/{endpoint.pk}/pin", {"fingerprint": fingerprint, "token": "t"})
    assert Endpoint.objects.get().fingerprint == PINNED


def test_a_second_endpoint_has_a_name_of_its_own(signed_in: Client) -> None:
    first = make_endpoint()
    values = {"control_address": "192.0.2.7:7410", "token": "t" * 43, "network_mode": first.network_mode}
    name = first.name or first.network_mode
    answer = signed_in.post(f"/hosts/{first.host_id}/endpoints/new", values | {"endpoint_name": name})
    assert f"already has an endpoint “{name}”: choose another name." in answer.content.decode()
    assert first.host.endpoints.count() == 1
    # What was entered is kept, and with another name it is taken.
    assert 'value="192.0.2.7:7410"' in answer.content.decode()
    signed_in.post(f"/hosts/{first.host_id}/endpoints/new", values | {"endpoint_name": "second"})
    assert first.host.endpoints.count() == 2


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (-1_770_000_000.0, "56 years behind"),
        (1_770_000_000.0, "56 years ahead"),
        (-86_400.0 * 12, "12 days behind"),
        (11_100.0, "3 h 5 min ahead"),
        (-12.6, "12.6 s behind"),
    ],
)
def test_a_clock_that_is_far_off_is_said_in_words_with_the_next_step(
    signed_in: Client, offset: float, text: str
) -> None:
    endpoint = make_endpoint()
    answered(endpoint, engine_version="1.0", clock_offset_seconds=offset, round_trip_seconds=0.001)
    page = signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    assert f">{text}</span>" in page
    assert "timedatectl set-ntp true" in page


def test_a_clock_that_is_right_is_told_by_its_difference_alone(signed_in: Client) -> None:
    endpoint = make_endpoint()
    answered(endpoint, engine_version="1.0", clock_offset_seconds=-0.0125, round_trip_seconds=0.001)
    page = signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    assert ">−12.5<" in page
    assert "timedatectl" not in page


def test_a_certificate_of_another_host_is_refused_with_a_box_to_insist(signed_in: Client) -> None:
    first = make_endpoint(host_name="db1", fingerprint=PINNED)
    host = make_endpoint(host_name="db2").host
    sent = VALUES | {"fingerprint": PINNED, "token": "t", "endpoint_name": "second"}
    assert "same_machine" not in signed_in.get(f"/hosts/{host.pk}/endpoints/new").content.decode()
    refused = signed_in.post(f"/hosts/{host.pk}/endpoints/new", sent).content.decode()
    assert f"The engine of host db1 ({first.host_id}) has this certificate" in refused
    assert (f'href="/hosts/{first.host_id}"' in refused, 'name="same_machine"' in refused) == (True, True)
    signed_in.post(f"/hosts/{host.pk}/endpoints/new", sent | {"same_machine": "on"})
    assert Endpoint.objects.get(name="second").same_machine
    page = " ".join(signed_in.get(f"/hosts/{host.pk}").content.decode().split())
    assert "One machine with:" in page
    assert "run one after another" in page


def test_the_token_or_certificate_is_replaced_by_a_worker_and_the_panel_says_so(
    signed_in: Client, checks: list[int]
) -> None:
    endpoint = make_endpoint(token="t" * 32)
    assert "Replace token" not in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    answered(endpoint)
    assert "Replace token" in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    path = f"/endpoints/{endpoint.pk}/rotate"
    assert signed_in.post(path, {"what": "password"}).status_code == 400
    partial = signed_in.post(path, {"what": "token"}, headers={"HX-Request": "true"}).content.decode()
    assert "Replacing the token…" in partial and 'hx-trigger="every 2s"' in partial
    again = signed_in.post(path, {"what": "certificate"}, headers={"HX-Request": "true"})
    assert again.headers["HX-Refresh"] == "true"
    text = signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    assert f"The token or certificate of {endpoint} is being replaced already." in text
    asked = len(checks)
    signed_in.post(f"/endpoints/{endpoint.pk}/watch")
    # While a worker replaces it, a panel that looks again asks for no check.
    assert len(checks) == asked
    rotation_end(endpoint_id=endpoint.pk, reason=Reason("rotation_overtaken", endpoint=str(endpoint)))
    text = signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
    assert "Token not replaced" in text and "was changed meanwhile" in text
    rotation_end(endpoint_id=endpoint.pk)
    assert "Token replaced" in signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
