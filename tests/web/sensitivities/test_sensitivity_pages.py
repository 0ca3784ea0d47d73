"""Sensitivities on their pages: added for a plan, listed, changed, archived and restored."""

import pytest
from django.test import Client

from benchweb.regressions.models import Sensitivity
from benchweb.regressions.thresholds.sensitivities import SensitivityScope, sensitivity_create
from tests.factories import make_environment, make_plan

FORM = {"plan": "", "environment": "", "kind": "tcp_stream", "metric": "throughput_bps", "floor_ratio": "5 %"}


def said(scope: SensitivityScope, floor_ratio: float = 0.05) -> Sensitivity:
    return sensitivity_create(scope, floor_ratio=floor_ratio, noise_times=None)


def values() -> list[tuple[object, ...]]:
    names = ("plan", "environment", "kind", "metric", "floor_ratio", "noise_times")
    return list(Sensitivity.objects.order_by("pk").values_list(*names))


def test_one_is_added_for_a_plan_and_listed_in_words(signed_in: Client) -> None:
    plan = make_plan()
    page = signed_in.get(f"/plans/{plan.pk}").content.decode()
    assert f'href="/sensitivities/new?plan={plan.pk}"' in page
    assert (
        f'<option value="{plan.pk}" selected>' in signed_in.get(f"/sensitivities/new?plan={plan.pk}").content.decode()
    )
    answer = signed_in.post("/sensitivities/new", FORM | {"plan": plan.pk, "noise_times": "6.5"})
    assert answer["Location"] == "/sensitivities"
    assert values() == [(plan.pk, None, "tcp_stream", "throughput_bps", 0.05, 6.5)]
    page = signed_in.get("/sensitivities").content.decode()
    assert f"plan {plan.name} · " in page
    assert ">5 %<" in page
    assert ">6.5<" in page
    assert "/sensitivities" in signed_in.get("/alerts").content.decode()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "", "metric": ""}, "name at least one"),
        ({"kind": "ping"}, "has no metric throughput_bps"),
        ({"kind": "none"}, "Select a valid choice"),
        ({"plan": "9" * 30}, "Select a valid choice"),
        ({"environment": "x"}, "Select a valid choice"),
        ({"floor_ratio": "5"}, "Enter a share of the level with %"),
        ({"floor_ratio": "1e400 %"}, "Enter a share from 0.5 % to 50 %."),
        ({"floor_ratio": "60 %"}, "Enter a share from 0.5 % to 50 %."),
        ({"floor_ratio": "-5 %"}, "Enter a share from 0.5 % to 50 %."),
        ({"floor_ratio": ""}, "Give a smallest change"),
        ({"noise_times": "nan"}, "Enter a number."),
        ({"noise_times": "1"}, "greater than or equal to 3"),
    ],
)
def test_what_can_be_none_is_refused_at_its_field_and_what_was_typed_stays(
    signed_in: Client, change: dict[str, str], fault: str
) -> None:
    answer = signed_in.post("/sensitivities/new", FORM | change)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert fault in page
    assert f'value="{change.get("floor_ratio", "5 %")}"' in page or change.get("floor_ratio") == ""
    assert values() == []


def test_a_second_one_of_the_same_is_refused(signed_in: Client) -> None:
    said(SensitivityScope(kind="tcp_stream", metric="throughput_bps"))
    assert "have a sensitivity already" in signed_in.post("/sensitivities/new", FORM).content.decode()
    assert len(values()) == 1


def test_its_values_change_and_its_scope_stays(signed_in: Client) -> None:
    row = said(SensitivityScope(kind="ping"), 0.125)
    path = f"/sensitivities/{row.pk}/edit"
    assert 'value="12.5 %"' in signed_in.get(path).content.decode()
    assert "Give a smallest change" in signed_in.post(path, {}).content.decode()
    answer = signed_in.post(path, {"floor_ratio": "", "noise_times": "8", "kind": "tcp_rr"})
    assert answer["Location"] == "/sensitivities"
    assert values() == [(None, None, "ping", "", None, 8.0)]
    assert "default, 2 %" in signed_in.get("/sensitivities").content.decode()


def test_archiving_asks_and_can_be_undone_unless_another_says_it_by_then(signed_in: Client) -> None:
    row = said(SensitivityScope(environment=make_environment("<b>noisy</b>")))
    path = f"/sensitivities/{row.pk}"
    question = signed_in.get(f"{path}/archive").content.decode()
    assert "&lt;b&gt;noisy&lt;/b&gt;" in question
    assert Sensitivity.objects.get().archived_at is None
    signed_in.post(f"{path}/archive")
    assert f'action="{path}/restore"' in signed_in.get("/sensitivities").content.decode()
    assert f'action="{path}/restore"' in signed_in.get("/sensitivities?archived=1").content.decode()
    assert signed_in.get(f"{path}/edit").status_code == 404
    other = said(SensitivityScope(environment=row.environment))
    assert signed_in.post(f"{path}/restore", follow=True).content.decode().count("have a sensitivity already") == 1
    assert Sensitivity.objects.get(archived_at=None) == other
    signed_in.post(f"/sensitivities/{other.pk}/archive")
    signed_in.post(f"{path}/restore")
    assert Sensitivity.objects.get(archived_at=None) == row


def test_the_list_filters_by_plan_and_words_and_takes_any_address(signed_in: Client) -> None:
    plan = make_plan()
    said(SensitivityScope(plan=plan))
    said(SensitivityScope(kind="ping"))
    page = signed_in.get("/sensitivities?q=ping").content.decode()
    assert plan.name not in page.partition('id="list"')[2]
    assert "/sensitivities/new?plan=7" in signed_in.get("/sensitivities?plan=7").content.decode()
    assert signed_in.get("/sensitivities?plan=x&environment=1e9&q=%27&after=9x&sort=none").status_code == 200
