"""Rows ticked in the lists of campaigns, hosts, pairs and plans: compared, exported, labelled."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.services import token_create
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from tests.charts.history_rows import past_run
from tests.factories import make_pair, make_plan, make_run

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 1, tzinfo=UTC)
STREAM = [{"kind": "tcp_stream", "params": {"message_size_bytes": 4096}}]
LISTS = ("campaigns", "hosts", "pairs", "plans")


def measured(*rates: float) -> list[Run]:
    """Return runs of a pair and a plan each."""
    runs = [
        past_run(
            make_plan(steps=STREAM, name=f"plan {n}"), make_pair(), AT + timedelta(hours=n), {"throughput_bps": rate}
        )
        for n, rate in enumerate(rates)
    ]
    rebuild()
    return runs


def rows_of(list_name: str, runs: list[Run]) -> list[int]:
    ids = {
        "campaigns": lambda run: run.campaign_id,
        "hosts": lambda run: run.pair.source.host_id,
        "pairs": lambda run: run.pair_id,
        "plans": lambda run: run.plan_version.plan_id,
    }
    return [ids[list_name](run) for run in runs]


def exported(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))


@pytest.mark.parametrize("list_name", LISTS)
def test_two_to_eight_ticked_rows_are_compared_a_side_each(signed_in: Client, list_name: str) -> None:
    ids = rows_of(list_name, measured(1e9, 2e9, 3e9))[:2]
    answer = signed_in.post(f"/lists/{list_name}/compare", {"rows": ids})
    side = list_name.removesuffix("s")
    assert answer["Location"] == f"/compare?side={side}%3D{ids[0]}&side={side}%3D{ids[1]}"
    page = signed_in.get(answer["Location"]).content.decode()
    assert page.count("1 run on 1 pair") == 2
    for few_or_many in (ids[:1], range(1, 10), []):
        sent = {"rows": few_or_many, "back": f"/{list_name}?q=x"}
        answer = signed_in.post(f"/lists/{list_name}/compare", sent, follow=True)
        assert answer.redirect_chain == [(f"/{list_name}?q=x", 302)]
        assert "Select 2 to 8 rows to compare." in answer.content.decode()


@pytest.mark.parametrize("list_name", [*LISTS, "runs"])
def test_ticked_rows_are_exported_with_their_main_figures(signed_in: Client, list_name: str) -> None:
    runs = measured(1e9, 2e9, 3e9)
    ids = [run.pk for run in runs] if list_name == "runs" else rows_of(list_name, runs)
    rows = exported(signed_in.post(f"/lists/{list_name}/export", {"rows": ids[1:]}))
    assert [(float(row["median"]), row["unit"], row["measured_in_run"]) for row in rows] == [
        (2e9, "bit/s", str(runs[1].pk)),
        (3e9, "bit/s", str(runs[2].pk)),
    ]
    assert [next(iter(row.values())) for row in rows] == [str(pk) for pk in ids[1:]]
    answer = signed_in.post(f"/lists/{list_name}/export", {}, follow=True)
    assert "Nothing is selected" in answer.content.decode()


def test_rows_without_a_figure_are_exported_and_an_unknown_list_is_none(signed_in: Client) -> None:
    pair = make_pair()
    rows = exported(signed_in.post("/lists/pairs/export", {"rows": [pair.pk, 999_999]}))
    assert [(row["source"], row["median"]) for row in rows] == [(str(pair.source), "")]
    for list_name in ("secrets", "Runs"):
        for act in ("compare", "export"):
            assert signed_in.post(f"/lists/{list_name}/{act}", {"rows": [1, 2]}).status_code == 404


def test_campaigns_of_one_pair_are_each_compared_by_their_own_runs(signed_in: Client) -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    runs = [past_run(plan, pair, AT + timedelta(days=n), {"throughput_bps": 1e9 + n * 1e8}) for n in range(3)]
    rebuild()
    _, secret = token_create(user=User.objects.create_user("script"), name="script")
    query = "&".join(f"side=campaign%3D{run.campaign_id}" for run in (runs[0], runs[2]))
    compared = Client().get(f"/api/v1/compare?{query}", HTTP_AUTHORIZATION=f"Bearer {secret}").json()
    assert [(side["name"], side["runs"]) for side in compared["sides"]] == [
        (f"Campaign {runs[0].campaign_id}", 1),
        (f"Campaign {runs[2].campaign_id}", 1),
    ]
    entries = compared["measures"][0]["entries"]
    assert [entry["median"] for entry in entries] == [1e9, 1.2e9]


def test_a_label_goes_to_every_run_of_the_ticked_campaigns(signed_in: Client) -> None:
    run, other = make_run(), make_run()
    sent = {"rows": [run.campaign_id], "label": "before upgrade", "back": "/campaigns?plan=1"}
    answer = signed_in.post("/campaigns/label", sent | {"action": "label"})
    assert answer["Location"] == "/campaigns?plan=1"
    assert [Run.objects.get(pk=each.pk).labels for each in (run, other)] == [["before upgrade"], []]
    signed_in.post("/campaigns/label", sent | {"action": "unlabel"})
    assert Run.objects.get(pk=run.pk).labels == []
    for values, words in (({"label": " "}, "A label has 1 to 60 characters."), ({"rows": []}, "Nothing is selected")):
        page = signed_in.post("/campaigns/label", sent | values, follow=True).content.decode()
        assert words in page


def test_the_api_labels_a_campaigns_runs_and_takes_the_label_again() -> None:
    run = make_run()
    _, secret = token_create(user=User.objects.create_user("script"), name="script")
    labels = f"/api/v1/campaigns/{run.campaign_id}/labels"
    token = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    answer = Client().post(labels, {"label": "night"}, content_type="application/json", **token)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()) == (200, {"label": "night", "runs": 1})
    assert Run.objects.get(pk=run.pk).labels == ["night"]
    assert Client().delete(f"{labels}/night", **token).json() == {"label": "night", "runs": 1}  # type: ignore[arg-type]
    assert Run.objects.get(pk=run.pk).labels == []
    empty = Client().post(labels, {"label": ""}, content_type="application/json", **token)  # type: ignore[arg-type]
    assert empty.status_code == 422


def test_a_viewer_compares_and_exports_and_is_offered_nothing_else(client: Client, settings: Settings) -> None:
    measured(1e9)
    viewer = User.objects.create_user("vera")
    Grant.objects.create(user=viewer, role=Role.VIEWER)
    client.force_login(viewer)
    for list_name in LISTS:
        page = client.get(f"/{list_name}").content.decode()
        assert "Export CSV" in page
        assert f'action="/lists/{list_name}/compare"' in page
        assert not any(words in page for words in ("Archive…", "Cancel runs…", "Add label")), list_name
