"""Launching a plan on one or several pairs."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set
from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.hosts.services import archive
from benchweb.plans.services import plan_archive
from benchweb.runs import services
from benchweb.runs.models import Campaign, Run
from tests.factories import SIZES, make_endpoint, make_pair, make_plan, make_user

LAUNCH = {"action": "launch"}


def test_it_names_what_is_missing_first(signed_in: Client) -> None:
    text = signed_in.get("/launch").content.decode()
    assert "No plans yet." in text
    assert "Next step: add a host." in text


def test_one_pair_ends_on_the_run_s_page(signed_in: Client, ada: User) -> None:
    plan, pair = make_plan(steps=SIZES), make_pair()
    response = signed_in.post("/launch", LAUNCH | {"plan": plan.pk, "pairs": [pair.pk]})
    run = Run.objects.get()
    assert response.headers["Location"] == f"/runs/{run.pk}"
    assert (run.pair, run.plan_version.plan, run.campaign.created_by) == (pair, plan, ada)
    assert run.trials.count() == 4


def test_several_pairs_end_on_the_page_of_their_campaign(signed_in: Client) -> None:
    plan, pairs = make_plan(), [make_pair(), make_pair()]
    response = signed_in.post("/launch", LAUNCH | {"plan": plan.pk, "pairs": [pair.pk for pair in pairs]})
    campaign = Campaign.objects.get()
    assert response.headers["Location"] == f"/campaigns/{campaign.pk}"
    make_plan(name="another")
    shown = signed_in.get(response.headers["Location"]).content.decode()
    assert all(f"/runs/{run.pk}" in shown for run in campaign.runs.all())


def test_several_pairs_are_launched_in_rounds_if_that_is_chosen(signed_in: Client) -> None:
    plan, pairs = make_plan(repetitions=3), [make_pair().pk, make_pair().pk]
    chosen = LAUNCH | {"plan": plan.pk, "pairs": pairs, "arrangement": "rounds"}
    answer = signed_in.post("/launch", chosen, follow=True)
    assert Campaign.objects.get().arrangement == "rounds"
    assert "in rounds: each pair once, then all again" in answer.content.decode()
    refused = signed_in.post("/launch", chosen | {"arrangement": "sideways"}).content.decode()
    assert "Choose one of runs, rounds" in refused
    assert Campaign.objects.count() == 1


@pytest.mark.parametrize(
    ("plan", "pairs", "field", "message"),
    [
        (False, True, "plan", "Choose a plan to run."),
        (True, False, "pairs", "Choose at least one pair to run the plan on."),
    ],
)
def test_a_choice_that_is_missing_is_named_and_the_other_kept(
    signed_in: Client, plan: bool, pairs: bool, field: str, message: str
) -> None:
    rows = {"plan": make_plan().pk if plan else "", "pairs": [make_pair().pk] if pairs else []}
    response = signed_in.post("/launch", LAUNCH | rows)
    page = response.context["page"]
    assert (page.field, page.error) == (field, message)
    assert message in response.content.decode()
    assert (bool(page.plan), bool(page.chosen)) == (plan, pairs)
    assert Campaign.objects.count() == 0


def test_an_archived_plan_is_refused_and_not_offered(signed_in: Client) -> None:
    plan, pair = make_plan(name="old"), make_pair()
    plan_archive(plan=plan)
    response = signed_in.post("/launch", LAUNCH | {"plan": plan.pk, "pairs": [pair.pk]})
    assert response.context["page"].error == "Plan old is archived: restore it, or choose another."
    assert response.context["page"].plans == []
    assert Campaign.objects.count() == 0


def test_a_refusal_is_in_the_reader_s_language(signed_in: Client) -> None:
    signed_in.cookies["language"] = "zh-hans"
    plan, pair = make_plan(name="old"), make_pair()
    plan_archive(plan=plan)
    text = signed_in.post("/launch", LAUNCH | {"plan": plan.pk, "pairs": [pair.pk]}).content.decode()
    assert "计划 old 已归档：请恢复它，或选择另一个。" in text
    assert Campaign.objects.count() == 0


def test_a_pair_archived_meanwhile_is_refused(signed_in: Client) -> None:
    plan, pair, gone = make_plan(), make_pair(), make_pair()
    archive(row=gone)
    response = signed_in.post("/launch", LAUNCH | {"plan": plan.pk, "pairs": [pair.pk, gone.pk]})
    assert response.context["page"].error.startswith("1 of the selected pairs")
    assert Campaign.objects.count() == 0


@pytest.mark.parametrize("nonsense", ["x", "-1", "9" * 30, "1; drop table"])
def test_what_is_no_id_is_no_choice(signed_in: Client, nonsense: str) -> None:
    response = signed_in.post("/launch", LAUNCH | {"plan": nonsense, "pairs": [nonsense]})
    assert response.context["page"].error == "Choose a plan to run."
    assert Campaign.objects.count() == 0


def test_the_filter_keeps_chosen_pairs_in_sight(signed_in: Client) -> None:
    alder = make_pair(source=make_endpoint(host_name="alder"))
    birch = make_pair(source=make_endpoint(host_name="birch"))
    make_pair(source=make_endpoint(host_name="cedar"))
    page = signed_in.post("/launch/choice", {"q": "ald", "pairs": [birch.pk]}).context["page"]
    assert [row.pair for row in page.offered] == [birch, alder]
    assert page.chosen == [birch]


def test_a_chosen_pair_is_launched_even_where_the_list_is_too_long(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    alder, _, cedar = (make_pair(source=make_endpoint(host_name=name)) for name in ("alder", "birch", "cedar"))
    monkeypatch.setattr("benchweb.web.launch.views.DISPLAYED_PAIRS", 1)
    page = signed_in.get(f"/launch?pairs={cedar.pk}").context["page"]
    assert [row.pair for row in page.offered] == [cedar, alder]
    assert (page.chosen, page.is_shortened) == ([cedar], True)
    signed_in.post("/launch", LAUNCH | {"plan": make_plan().pk, "pairs": [cedar.pk]})
    assert Run.objects.get().pair == cedar


def test_enter_in_the_filter_launches_nothing(signed_in: Client) -> None:
    pair = make_pair()
    choice = {"action": "filter", "plan": make_plan().pk, "pairs": [pair.pk]}
    assert signed_in.post("/launch", choice).context["page"].chosen == [pair]
    assert Campaign.objects.count() == 0


def test_the_summary_counts_runs_and_time_and_warns_of_silent_ends(signed_in: Client) -> None:
    plan, silent, answering = make_plan(steps=SIZES, repetitions=3), make_pair(), make_pair()
    Endpoint.objects.filter(pk__in=[answering.source_id, answering.sink_id]).update(status="answered")
    response = signed_in.post("/launch/choice", {"plan": plan.pk, "pairs": [silent.pk, answering.pk]})
    page, text = response.context["page"], response.content.decode()
    assert (page.preview.count, page.preview.measured_seconds) == (12, 12)
    assert "2 runs" in text
    assert page.silent == [silent]
    assert "didn't answer its last check" in text


def test_links_fill_the_choice_in(signed_in: Client) -> None:
    plan, pair = make_plan(), make_pair()
    assert signed_in.get(f"/plans/{plan.pk}/launch").context["page"].plan == plan
    assert signed_in.get(f"/launch?pairs={pair.pk}").context["page"].chosen == [pair]


def test_more_runs_than_are_taken_without_a_question_are_asked_for_by_their_number(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "CONFIRM_ABOVE", 1)
    values = LAUNCH | {"plan": make_plan().pk, "pairs": [make_pair().pk, make_pair().pk]}
    response = signed_in.post("/launch", values)
    assert response.context["page"].field == "confirm_runs"
    assert "Yes, launch 2 runs" in response.content.decode()
    assert Campaign.objects.count() == 0
    signed_in.post("/launch", values | {"confirm_runs": "2"})
    assert Campaign.objects.get().runs.count() == 2


def together(*pairs: Pair) -> None:
    """Put pairs into the environment of the first."""
    Pair.objects.filter(pk__in=[pair.pk for pair in pairs]).update(environment=pairs[0].environment)


def ticked(page: str) -> set[int]:
    """Return the ids of the pairs that are ticked."""
    return {int(pk) for pk in re.findall(r'name="pairs" value="(\d+)" checked', page)}


def test_an_environment_is_launched_whole(signed_in: Client) -> None:
    plan, pairs, other = make_plan(), [make_pair(), make_pair()], make_pair()
    together(*pairs)
    environment = pairs[0].environment_id
    page = signed_in.get("/launch", {"environment": environment}).content.decode()
    assert ticked(page) == {pair.pk for pair in pairs}
    assert f'name="pairs" value="{other.pk}"' not in page
    # Another one brings its own pairs; within one the ticks are the reader's.
    choice = {"plan": plan.pk, "environment": other.environment_id, "chosen_in": environment, "pairs": [pairs[0].pk]}
    changed = signed_in.post("/launch/choice", choice).content.decode()
    assert ticked(changed) == {other.pk}
    kept = signed_in.post("/launch/choice", choice | {"environment": environment}).content.decode()
    assert ticked(kept) == {pairs[0].pk}
    none = signed_in.post("/launch/choice", choice | {"environment": environment, "pairs": []}).content.decode()
    assert ticked(none) == set()
    ids = [pair.pk for pair in pairs]
    signed_in.post("/launch", LAUNCH | choice | {"environment": environment, "pairs": ids})
    assert set(Run.objects.values_list("pair_id", flat=True)) == set(ids)


def test_what_can_not_run_is_greyed_with_the_reason(signed_in: Client) -> None:
    plan = make_plan(steps=SIZES)
    good, alone, sample = make_pair(), make_pair(), make_pair()
    together(good, alone, sample)
    Pair.objects.filter(pk=alone.pk).update(sink=alone.source)
    Host.objects.filter(pk=sample.source.host_id).update(is_synthetic=True)
    page = signed_in.get(f"/plans/{plan.pk}/launch", {"environment": good.environment_id}).content.decode()
    assert ticked(page) == {good.pk}
    assert page.count(" disabled aria-describedby") == 2
    assert "is one host alone: choose pairs of two." in page
    assert "its hosts are a sample, no engine answers there." in page
    # What an address names stays ticked, so that it isn't lost without a word.
    named = signed_in.get(f"/plans/{plan.pk}/launch", {"pairs": [sample.pk]}).content.decode()
    assert ticked(named) == {sample.pk}


@pytest.mark.django_db
def test_pairs_of_environments_without_a_role_are_greyed(client: Client) -> None:
    mine, theirs = make_pair(), make_pair()
    make_user("root", "a password of hers")
    user = User.objects.create_user("olly")
    role_set(role=Role.VIEWER, user=user)
    role_set(role=Role.OPERATOR, user=user, environment_id=mine.environment_id)
    client.force_login(user)
    page = client.get("/launch").content.decode()
    assert f"You may not run tests in {theirs.environment}." in page
    assert f'id="pair-{theirs.pk}" name="pairs" value="{theirs.pk}" disabled' in page
    assert f'id="pair-{mine.pk}" name="pairs" value="{mine.pk}">' in page
