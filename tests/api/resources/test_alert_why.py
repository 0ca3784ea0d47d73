"""Why an alert may be, for scripts."""

from benchweb.regressions.models import Alert
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_alert
from tests.regressions.fleet import NIGHTS, endpoint_of, fallen_alert, fleet_pairs, make_fleet, record


def test_evidence_comes_with_its_figures_and_the_runs_that_would_tell(api: ApiClient) -> None:
    make_fleet()
    for name in ("alder", "birch"):
        record(endpoint_of(name), "6.8.1", NIGHTS)
    alert = fallen_alert(fleet_pairs(), {"alder", "birch"})
    answer = api.get(f"/alerts/{alert.pk}/why").json()
    assert (answer["is_explained"], answer["unknown"], answer["pairs"]) == (True, "", 16)
    first = answer["ranked"][0]
    assert (first["kind"], first["what"]) == ("fact", "kernel 6.8.0 → 6.8.1")
    assert first["hosts"] == sorted(endpoint_of(name).host_id for name in ("alder", "birch"))
    assert (first["exposed"], first["unexposed"]) == ({"fell": 7, "pairs": 7}, {"fell": 0, "pairs": 9})
    assert first["interval_low"] < first["change"] < first["interval_high"] < 0
    assert first["p"] <= 0.05
    assert "without" in {run["code"] for run in answer["runs"]}


def test_of_what_is_missing_there_is_nothing_to_compare(api: ApiClient, refused: Refused) -> None:
    alert = make_alert()
    Alert.objects.filter(pk=alert.pk).update(kind=Alert.Kind.ABSENCE)
    assert "nothing to compare" in refused(api.get(f"/alerts/{alert.pk}/why"), 404)
