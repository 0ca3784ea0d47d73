"""Why an alert may be: a part of its page, a page of its own, and its share."""

import pytest
from django.test import Client

from benchweb.annotations.models import Annotation
from benchweb.documents.csv_file import document_csv
from benchweb.regressions.models import Alert
from benchweb.regressions.selectors import alerts
from benchweb.web.alerts.documents import alert_document
from benchweb.web.alerts.why_page import why_page
from tests.factories import make_alert, make_endpoint
from tests.regressions.fleet import NIGHTS, endpoint_of, fallen_alert, fleet_pairs, make_fleet, night, record


@pytest.fixture(scope="module")
def fleet_alert_id(rows_of_a_module: None) -> int:
    make_fleet()
    for name in ("alder", "birch"):
        record(endpoint_of(name), "6.8.1", NIGHTS)
    return fallen_alert(fleet_pairs(), {"alder", "birch"}).pk


def test_it_stands_on_the_alerts_page_by_itself_and_alone(signed_in: Client, fleet_alert_id: int) -> None:
    address = f"/alerts/{fleet_alert_id}/why"
    assert f'hx-get="{address}"' in signed_in.get(f"/alerts/{fleet_alert_id}").content.decode()
    part = signed_in.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "kernel 6.8.0 → 6.8.1" in part
    assert "All 7 pairs with it got worse" in part
    assert f'href="/hosts/{endpoint_of("alder").host_id}"' in part
    assert "/launch?pairs=" in part
    assert "<html" in signed_in.get(address).content.decode()


def test_its_share_and_exports_say_the_same(fleet_alert_id: int, db: None) -> None:
    alert = Alert.objects.get(pk=fleet_alert_id)
    note = Annotation.objects.create(text="switch replaced", at=night(NIGHTS), host=endpoint_of("alder").host)
    Annotation.objects.filter(pk=note.pk).update(created_at=night(NIGHTS - 1))
    assert "switch replaced" in {str(evidence.words) for evidence in why_page(alert).why.ranked}  # type: ignore[union-attr]
    document = alert_document(alerts().get(pk=fleet_alert_id), night(0).tzinfo)  # type: ignore[arg-type]
    text = "".join(document_csv(document))
    assert "kernel 6.8.0 → 6.8.1" in text
    # Who reads a share is told of the alert's own hosts alone.
    assert any(names in text for names in (",alder,", '"alder, birch"', '"alder, 1 other"', '"birch, 1 other"'))
    assert "All 7 pairs with it got worse" in text
    # Nor of what people wrote.
    assert "switch replaced" not in text


def test_a_night_and_a_host_say_it_of_all_that_fell_together(signed_in: Client, fleet_alert_id: int) -> None:
    fallen = night(NIGHTS).date()
    address = f"/morning/why?night={fallen}"
    assert f'hx-get="{address}"' in signed_in.get(f"/morning?night={fallen}").content.decode()
    assert "All 7 pairs with it got worse" in signed_in.get(address).content.decode()
    of_host = f"/hosts/{endpoint_of('alder').host_id}"
    assert f'hx-get="{of_host}/why"' in signed_in.get(of_host).content.decode()
    part = signed_in.get(f"{of_host}/why", headers={"HX-Request": "true"}).content.decode()
    assert "All 7 pairs with it got worse" in part
    # What changed is told by the host's page itself.
    assert f'href="/alerts/{fleet_alert_id}"' in signed_in.get(of_host).content.decode()


def test_of_a_host_and_a_night_without_alerts_there_is_nothing(signed_in: Client, db: None) -> None:
    host = make_endpoint().host
    for address in (f"/hosts/{host.pk}/why", "/morning/why?night=2020-01-01"):
        assert signed_in.get(address, headers={"HX-Request": "true"}).content == b""
        assert "nothing to compare" in signed_in.get(address).content.decode()


def test_of_what_is_missing_nothing_can_be_compared(signed_in: Client) -> None:
    alert = make_alert()
    Alert.objects.filter(pk=alert.pk).update(kind=Alert.Kind.ABSENCE)
    assert "nothing to compare" in signed_in.get(f"/alerts/{alert.pk}/why").content.decode()
    assert signed_in.get("/alerts/999999/why").status_code == 404
