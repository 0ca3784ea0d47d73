"""Runs by REST: the contract's example, filters, refusals, cancellation, downloads."""

import csv
import io
import json
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from benchweb.plans.services import plan_archive
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Campaign, Run, State, Trial
from benchweb.runs.queueing.occupancy import occupancy
from tests.api.conftest import ApiClient, Refused
from tests.factories import SIZES, begun, make_endpoint, make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db

FACTS = {"kernel": "6.1"}


def take_in(trial: Trial, metrics: dict[str, float], flags: tuple[str, ...] = ()) -> None:
    document = {"kind": trial.kind, "metrics": metrics, "flags": list(flags), "source": FACTS, "sink": FACTS}
    assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)


def test_the_contracts_example_makes_twelve_pending_trials(api: ApiClient) -> None:
    pair = make_pair()
    plan = api.post("/plans", {"name": "sizes", "repetitions": 3, "order": "interleaved", "steps": SIZES})
    assert plan.status_code == 201
    created = api.post("/runs", {"plan": plan.json()["id"], "pair": pair.pk})
    assert created.status_code == 201
    run_id = created.json()["id"]
    assert created.json() == {
        "id": run_id,
        "state": "pending",
        "reason": "",
        "reason_code": None,
        "reason_params": None,
        "url": f"http://testserver/runs/{run_id}",
    }
    run = api.get(f"/runs/{run_id}").json()
    assert (run["id"], run["plan"], run["pair"], run["state"]) == (run_id, plan.json()["id"], pair.pk, "pending")
    assert (run["reason"], run["started_at"], run["finished_at"]) == ("", None, None)
    assert [trial["index"] for trial in run["trials"]] == list(range(1, 13))
    assert [trial["kind"] for trial in run["trials"][:4]] == ["tcp_stream"] * 3 + ["tcp_rr"]
    assert [trial["repetition"] for trial in run["trials"]] == [1] * 4 + [2] * 4 + [3] * 4
    assert run["trials"][1] | {"id": 0} == {
        "id": 0,
        "index": 2,
        "kind": "tcp_stream",
        "params": {"message_size_bytes": 1024, "duration_seconds": 1},
        "repetition": 1,
        "state": "pending",
        "reason": "",
        "reason_code": None,
        "reason_params": None,
        "started_at": None,
        "finished_at": None,
        "metrics": {},
        "flags": [],
        "limits": [],
    }


def test_the_same_call_again_makes_a_run_of_its_own_and_changes_nothing_of_the_first(api: ApiClient) -> None:
    pair, plan = make_pair(), make_plan()
    first = api.post("/runs", {"plan": plan.pk, "pair": pair.pk}).json()["id"]
    before = api.get(f"/runs/{first}").json()
    second = api.post("/runs", {"plan": plan.pk, "pair": pair.pk}).json()["id"]
    assert first != second
    # Where it is in the queue is computed anew.
    assert api.get(f"/runs/{first}").json() | {"queue": None} == before | {"queue": None}


def test_a_run_shows_what_its_trials_gave(api: ApiClient) -> None:
    run = make_run(steps=SIZES)
    take_in(run.trials.get(index=1), {"throughput_bps": 1.5e10}, ("same_host",))
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, reason="1 of 4 trials failed")
    shown = api.get(f"/runs/{run.pk}").json()
    assert (shown["state"], shown["reason"]) == ("failed", "1 of 4 trials failed")
    assert shown["trials"][0]["metrics"] == {"throughput_bps": 1.5e10}
    assert (shown["trials"][0]["flags"], shown["trials"][0]["state"]) == (["same_host"], "finished")
    assert shown["trials"][1]["metrics"] == {}


def test_a_run_costs_the_same_queries_however_many_trials(
    api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small, large = make_run(), make_run(steps=SIZES, repetitions=20)
    for run in (small, large):
        api.get("/hosts")
        occupancy(run.plan_version_id)
        # The token, the run with all that names it, its trials with their results; of one that is pending the time,
        # the queue, what runs usually take and which of its ends are silent.
        with django_assert_num_queries(7):
            assert api.get(f"/runs/{run.pk}").status_code == 200


def test_a_list_of_runs_costs_two_queries_however_many(
    api: ApiClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(5):
        make_run()
    api.get("/hosts")
    with django_assert_num_queries(2):
        assert len(api.get("/runs").json()["items"]) == 5


def test_runs_are_listed_newest_first_page_by_page(api: ApiClient) -> None:
    plan, pair = make_plan(), make_pair()
    ids = [api.post("/runs", {"plan": plan.pk, "pair": pair.pk}).json()["id"] for _ in range(5)]
    first = api.get("/runs?limit=2").json()
    # A run that is added meanwhile moves nothing to another page.
    api.post("/runs", {"plan": plan.pk, "pair": pair.pk})
    second = api.get(f"/runs?limit=2&cursor={first['next']}").json()
    third = api.get(f"/runs?limit=2&cursor={second['next']}").json()
    assert [[item["id"] for item in page["items"]] for page in (first, second, third)] == [
        [ids[4], ids[3]],
        [ids[2], ids[1]],
        [ids[0]],
    ]
    assert third["next"] is None


def test_a_last_page_that_is_full_has_no_next(api: ApiClient) -> None:
    make_run()
    make_run()
    assert api.get("/runs?limit=2").json()["next"] is None


def test_runs_are_filtered(api: ApiClient) -> None:
    # Hosts without a number, in which a run's id could be found too.
    ends = [make_endpoint(host_name=name) for name in ("ash", "birch", "cedar", "dogwood")]
    one = make_run(pair=make_pair(source=ends[0], sink=ends[1]), name="nightly sizes")
    two = make_run(pair=make_pair(source=ends[2], sink=ends[3]), name="weekly")
    Run.objects.filter(pk=two.pk).update(state=State.FINISHED)

    def found(query: str) -> list[int]:
        return [item["id"] for item in api.get(f"/runs?{query}").json()["items"]]

    assert found("state=finished") == [two.pk]
    assert found(f"plan={one.plan_version.plan_id}") == [one.pk]
    assert found(f"pair={two.pair_id}") == [two.pk]
    assert found(f"environment={one.pair.environment_id}") == [one.pk]
    assert found(f"host={one.pair.source.host_id}") == found(f"host={one.pair.sink.host_id}") == [one.pk]
    assert found(f"campaign={two.campaign_id}") == [two.pk]
    assert found("text=SIZES nightly") == found(f"text={one.pair.sink.host.name}") == [one.pk]
    assert found("text=sizes weekly") == []
    assert found(f"text={two.pk}") == [two.pk]
    assert found("text=100%25") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=done", "state"),
        ("plan=x", "plan"),
        ("plan=0", "plan"),
        (f"pair={10**30}", "pair"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=aWQ6OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "cursor"),
        ("text=a%00b", "text"),
        ("stat=failed", "stat"),
        (f"text={'a' * 201}", "text"),
    ],
)
def test_a_filter_that_cannot_be_is_refused_by_name(api: ApiClient, refused: Refused, query: str, field: str) -> None:
    refused(api.get(f"/runs?{query}"), 422, field)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"plan": 999999}, "plan"),
        ({"pair": 999999}, "pair"),
        ({"pair": "1"}, "pair"),
        ({"pair": True}, "pair"),
        ({"pair": 1.0}, "pair"),
        ({"pair": None}, "pair"),
        ({"pair": -1}, "pair"),
        ({"pair": 2**63}, "pair"),
        ({"pair": [1]}, "pair"),
        ({"pairs": [1]}, "pairs"),
    ],
)
def test_a_launch_that_cannot_be_is_refused_and_makes_nothing(
    api: ApiClient, refused: Refused, change: dict[str, Any], field: str
) -> None:
    body = {"plan": make_plan().pk, "pair": make_pair().pk} | change
    refused(api.post("/runs", body), 422, field)
    assert (Campaign.objects.count(), Run.objects.count(), Trial.objects.count()) == (0, 0, 0)


def test_an_archived_plan_or_pair_can_not_be_launched(api: ApiClient, refused: Refused) -> None:
    plan, pair = make_plan(), make_pair()
    api.delete(f"/pairs/{pair.pk}")
    refused(api.post("/runs", {"plan": plan.pk, "pair": pair.pk}), 422, "pair")
    plan_archive(plan=plan)
    refused(api.post("/runs", {"plan": plan.pk, "pair": make_pair().pk}), 422, "plan")
    assert Run.objects.count() == 0


def test_a_pending_run_is_cancelled_at_once_and_again_without_complaint(api: ApiClient) -> None:
    run = make_run(steps=SIZES)
    for _ in range(2):
        answer = api.post(f"/runs/{run.pk}/cancel")
        assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
    assert set(run.trials.values_list("state", flat=True)) == {"cancelled"}


def test_a_running_run_is_asked_to_stop_and_asking_twice_is_no_error(api: ApiClient) -> None:
    run = make_run()
    assert begun(run, "w") is not None
    for _ in range(2):
        answer = api.post(f"/runs/{run.pk}/cancel")
        assert (answer.status_code, answer.json()["state"]) == (202, "running")
    run.refresh_from_db()
    assert run.cancel_requested_at is not None


def test_a_run_that_is_over_can_not_be_cancelled(api: ApiClient, refused: Refused) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    assert "finished already" in refused(api.post(f"/runs/{run.pk}/cancel"), 409)
    run.refresh_from_db()
    assert (run.state, run.cancel_requested_at) == (State.FINISHED, None)


@pytest.mark.parametrize("path", ["", "/cancel", "/results.csv", "/results.json"])
@pytest.mark.parametrize("run_id", ["999999", "0", "-1", "abc", "1.5", "9" * 40, "%00", "1%20"])
def test_a_run_that_is_not_there_is_404(api: ApiClient, refused: Refused, path: str, run_id: str) -> None:
    call = api.post if path == "/cancel" else api.get
    refused(call(f"/runs/{run_id}{path}"), 404)


def test_results_are_downloaded_as_csv_and_json(api: ApiClient) -> None:
    run = make_run(steps=SIZES)
    take_in(run.trials.get(index=1), {"throughput_bps": 1.5e10})
    as_csv, as_json = api.get(f"/runs/{run.pk}/results.csv"), api.get(f"/runs/{run.pk}/results.json")
    assert as_csv.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert as_csv.headers["Content-Disposition"] == f'attachment; filename="run-{run.pk}.csv"'
    rows = list(csv.DictReader(io.StringIO(as_csv.getvalue().decode())))
    assert (len(rows), rows[0]["throughput_bps"]) == (4, "15000000000.0")
    assert as_json.headers["Content-Type"] == "application/json"
    assert json.loads(as_json.getvalue())["trials"][0]["metrics"] == {"throughput_bps": 1.5e10}


def test_a_run_tells_the_addresses_that_it_uses_once_it_has_begun(api: ApiClient) -> None:
    run = make_run()
    assert api.get(f"/runs/{run.pk}").json()["addresses"] is None
    sink = {"control": "192.0.2.7", "data": "2001:db8::7", "data_port": 7411}
    Run.objects.filter(pk=run.pk).update(addresses={"source": {"control": "192.0.2.1"}, "sink": sink})
    assert api.get(f"/runs/{run.pk}").json()["addresses"] == {
        "source": {"control": "192.0.2.1", "data": None},
        "sink": sink,
    }
