"""Launches that need no plan: a run with changes, and a quick test of two hosts or one."""

import pytest
from django.test import Client

from benchweb.hosts.models import Environment, Host, Pair
from benchweb.hosts.pairs import QUICK_ENVIRONMENT
from benchweb.hosts.services import archive
from benchweb.plans.models import Plan
from benchweb.plans.selectors import plans_matching
from benchweb.runs.models import Run
from tests.factories import SIZES, make_endpoint, make_pair, make_plan, make_run

CHANGED = {
    "name": "sizes, changed",
    "repetitions": "3",
    "order": "interleaved",
    "pause_seconds": "0",
    "step": ["s0"],
    "s0-kind": "tcp_stream",
    "s0-message_size_bytes": "4Ki, 8Ki",
    "s0-duration_seconds": "1",
}


def test_a_run_with_changes_starts_from_a_copy_of_its_steps(signed_in: Client) -> None:
    run = make_run(steps=SIZES)
    draft = signed_in.get(f"/runs/{run.pk}/changed").context["editor"].draft
    assert draft.name == "sizes, changed"
    assert [step.texts.get("message_size_bytes") for step in draft.steps] == ["64, 1Ki, 16Ki", None]


def test_changed_steps_run_on_the_same_pair_and_leave_the_plan_alone(signed_in: Client) -> None:
    run = make_run(steps=SIZES)
    plan = run.plan_version.plan
    answer = signed_in.post(f"/runs/{run.pk}/changed", CHANGED | {"action": "launch"})
    made = Run.objects.exclude(pk=run.pk).get()
    assert answer["Location"] == f"/runs/{made.pk}"
    assert made.pair_id == run.pair_id
    assert made.plan_version.steps[0]["params"]["message_size_bytes"] == [4096, 8192]
    assert plan.versions.get().steps == SIZES
    # Only the plan that somebody made is in the list; the same changes again are the same version.
    assert list(plans_matching()) == [plan]
    signed_in.post(f"/runs/{run.pk}/changed", CHANGED | {"action": "launch"})
    assert Run.objects.order_by("-pk")[0].plan_version_id == made.plan_version_id


def test_a_run_without_a_change_is_of_the_same_version(signed_in: Client) -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [4096, 8192], "duration_seconds": 1}}]
    run = make_run(steps=steps, repetitions=3)
    signed_in.post(f"/runs/{run.pk}/changed", CHANGED | {"action": "launch"})
    assert Run.objects.exclude(pk=run.pk).get().plan_version_id == run.plan_version_id
    assert Plan.objects.count() == 1


def test_a_refused_change_launches_nothing_and_keeps_what_was_typed(signed_in: Client) -> None:
    run = make_run()
    answer = signed_in.post(f"/runs/{run.pk}/changed", CHANGED | {"s0-message_size_bytes": "big", "action": "launch"})
    assert "&#x27;big&#x27; is not a number" in answer.content.decode()
    assert 'value="big"' in answer.content.decode()
    assert (Run.objects.count(), Plan.objects.count()) == (1, 1)


def test_a_change_on_an_archived_host_says_why_it_cannot_run(signed_in: Client) -> None:
    run = make_run()
    archive(row=run.pair.source.host)
    answer = signed_in.post(f"/runs/{run.pk}/changed", CHANGED | {"action": "launch"})
    assert "is archived. Restore it first." in answer.content.decode()
    assert (Run.objects.count(), Plan.objects.count()) == (1, 1)


def test_a_one_off_plan_is_kept_by_a_button(signed_in: Client) -> None:
    run = make_run()
    signed_in.post(f"/runs/{run.pk}/changed", CHANGED | {"action": "launch"})
    plan = Plan.objects.get(is_one_off=True)
    page = signed_in.get(f"/plans/{plan.pk}").content.decode()
    assert "not in the list of plans" in page
    signed_in.post(f"/plans/{plan.pk}/keep")
    assert list(plans_matching(text="changed")) == [plan]


def test_a_quick_test_runs_on_the_pair_that_there_is(signed_in: Client) -> None:
    pair = make_pair()
    answer = signed_in.post("/quick-test", {"source": pair.source_id, "sink": pair.sink_id, "kind": "udp_stream"})
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}"
    assert (run.pair_id, Pair.objects.count()) == (pair.pk, 1)
    assert run.plan_version.steps == [{"kind": "udp_stream", "params": {"duration_seconds": 2}}]
    assert run.trials.count() == 5
    assert list(plans_matching()) == []
    # The next one begins with the same.
    test = signed_in.get("/quick-test").context["test"]
    assert (test.source, test.sink, test.kind) == (str(pair.source_id), str(pair.sink_id), "udp_stream")


def test_a_quick_test_makes_the_pair_in_the_environment_of_its_hosts(signed_in: Client) -> None:
    pair = make_pair(environment="rack 7")
    signed_in.post("/quick-test", {"source": pair.sink_id, "sink": pair.source_id, "kind": "tcp_rr"})
    made = Run.objects.get().pair
    assert (made.source_id, made.sink_id, made.environment_id) == (pair.sink_id, pair.source_id, pair.environment_id)


def test_a_quick_test_of_hosts_without_an_environment_has_one_for_them(signed_in: Client) -> None:
    source, sink = make_endpoint(), make_endpoint()
    signed_in.post("/quick-test", {"source": source.pk, "sink": sink.pk, "kind": "tcp_rr"})
    assert Environment.objects.get().name == QUICK_ENVIRONMENT
    assert Run.objects.get().pair.environment.name == QUICK_ENVIRONMENT


def test_a_quick_test_offers_the_pair_of_the_newest_run(signed_in: Client) -> None:
    make_endpoint(host_name="aa")
    run = make_run()
    test = signed_in.get("/quick-test").context["test"]
    assert (test.source, test.sink) == (str(run.pair.source_id), str(run.pair.sink_id))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": ""}, "Choose two hosts."),
        ({"sink": "999999"}, "Choose two hosts."),
        ({"kind": "tcp_strem"}, "Choose what to test."),
    ],
)
def test_a_refused_quick_test_makes_nothing(signed_in: Client, changes: dict[str, str], message: str) -> None:
    source, sink = make_endpoint(), make_endpoint()
    sent = {"source": str(source.pk), "sink": str(sink.pk), "kind": "tcp_rr"} | changes
    assert message in signed_in.post("/quick-test", sent).content.decode()
    assert (Run.objects.count(), Pair.objects.count(), Plan.objects.count()) == (0, 0, 0)


def test_a_quick_test_with_itself_is_refused(signed_in: Client) -> None:
    source = make_endpoint()
    make_endpoint()
    sent = {"source": str(source.pk), "sink": str(source.pk), "kind": "tcp_rr"}
    assert "Choose two different hosts." in signed_in.post("/quick-test", sent).content.decode()


def test_one_host_is_tested_alone_and_kinds_between_two_still_ask_for_another(signed_in: Client) -> None:
    assert "needs a host with an engine" in signed_in.get("/quick-test").content.decode()
    endpoints = [make_endpoint(), make_endpoint()]
    Host.objects.filter(pk=endpoints[0].host_id).update(is_synthetic=True)
    answer = signed_in.get("/quick-test")
    assert answer.context["test"].endpoints == [endpoints[1]]
    sent = {"source": endpoints[1].pk, "sink": "", "kind": "tcp_rr"}
    assert "Choose two hosts." in signed_in.post("/quick-test", sent).content.decode()
    launched = signed_in.post("/quick-test", sent | {"kind": "memory_bandwidth"})
    assert launched.headers["Location"] == f"/runs/{Run.objects.get().pk}"
    assert Run.objects.get().pair.is_one_host


def test_one_off_plans_are_in_no_choice_of_plans(signed_in: Client) -> None:
    pair = make_pair()
    signed_in.post("/quick-test", {"source": pair.source_id, "sink": pair.sink_id, "kind": "tcp_rr"})
    make_plan(name="nightly")
    one_off = Plan.objects.get(is_one_off=True)
    for path in ("/plans", "/runs", "/launch", "/schedules/new", "/campaigns", "/search?q=quick"):
        page = signed_in.get(path).content.decode()
        assert f'value="{one_off.pk}">quick tcp_rr' not in page
        assert f'href="/plans/{one_off.pk}"' not in page
    # Its own runs can be listed, and the filter calls it by its name.
    assert ">quick tcp_rr</option>" in signed_in.get(f"/runs?plan={one_off.pk}").content.decode()
