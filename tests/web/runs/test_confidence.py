"""A plan's confidence on the pages: asked for in the editor, told loudly on the run's page."""

import re

from django.test import Client

from benchweb.plans.models import Plan, PlanVersion
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.execution import run_end
from benchweb.runs.models import Run, State
from tests.factories import begun, make_plan, make_run
from tests.web.plans.test_plans import FORM

ASKED = {"level_percent": 99.0, "width_percent": 5.0, "max_repetitions": 10}
FIELDS = {
    "confidence_level_percent": "99",
    "confidence_width_percent": "5",
    "confidence_max_repetitions": "10",
}


def words(page: bytes) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.decode()))


def finished_run(values: list[float]) -> Run:
    run = make_run(repetitions=3, confidence=ASKED | {"max_repetitions": 3})
    begun(run, "w")
    for trial, value in zip(run.trials.all(), values, strict=True):
        document = {"kind": trial.kind, "metrics": {"throughput_bps": value}}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
    return run


def test_the_editor_saves_what_was_asked_for_and_shows_it_again(signed_in: Client) -> None:
    signed_in.post("/plans/new", FORM | FIELDS | {"action": "save"})
    version = PlanVersion.objects.get()
    assert (version.repetitions, version.confidence) == (3, ASKED)
    draft = signed_in.get(f"/plans/{version.plan_id}/edit").context["editor"].draft
    assert (draft.confidence_level_percent, draft.confidence_width_percent) == ("99", "5")
    read = words(signed_in.get(f"/plans/{version.plan_id}").content)
    assert "a 99 % interval of the mean at most 5 % wide, at most 10 times" in read


def test_a_plan_that_asks_for_none_is_as_before(signed_in: Client) -> None:
    signed_in.post("/plans/new", FORM | {"action": "save"})
    assert PlanVersion.objects.get().confidence is None


def test_the_most_repetitions_may_be_left_out(signed_in: Client) -> None:
    signed_in.post("/plans/new", FORM | FIELDS | {"confidence_max_repetitions": "", "action": "save"})
    confidence = PlanVersion.objects.get().confidence
    assert confidence is not None and confidence["max_repetitions"] == 30


def test_a_wrong_value_is_told_at_its_field_and_nothing_is_saved(signed_in: Client) -> None:
    for wrong, field in [
        ({"confidence_level_percent": "100"}, "confidence_level_percent"),
        ({"confidence_width_percent": ""}, "confidence_width_percent"),
        ({"confidence_max_repetitions": "2"}, "confidence_max_repetitions"),
        ({"repetitions": "1"}, "repetitions"),
    ]:
        page = signed_in.post("/plans/new", FORM | FIELDS | wrong | {"action": "save"})
        assert list(page.context["editor"].errors) == [field]
        assert page.context["editor"].error_slots[field]
    assert Plan.objects.count() == 0


def test_the_preview_says_how_many_trials_it_may_come_to(signed_in: Client) -> None:
    page = signed_in.post("/plans/preview", FORM | FIELDS)
    preview = page.context["editor"].preview
    # 4 combinations, 3 to 10 times, each with 1 s of traffic and 1 s around it.
    assert (preview.count, preview.maximum_count, preview.held_seconds) == (12, 40, 80)
    assert "12 to 40" in words(page.content)


def test_a_confidence_that_was_not_reached_is_told_loudly(signed_in: Client) -> None:
    run = finished_run([99e6, 100e6, 101e6])
    sentence = "The confidence asked for was NOT reached: a 99 % interval of the mean at most 5 % wide"
    run_end(run_id=run.pk, owner="w", remark=sentence)
    page = signed_in.get(f"/runs/{run.pk}").content
    # Once at the head, once in the run's events.
    assert words(page).count(sentence) == 2
    assert b'role="alert"' in page
    assert "100 Mbit/s" in words(page) and "11.46 %" in words(page) and "NOT reached" in words(page)


def test_a_confidence_that_was_reached_is_told_without_alarm(signed_in: Client) -> None:
    run = finished_run([100e6, 100e6, 100e6])
    run_end(run_id=run.pk, owner="w")
    page = signed_in.get(f"/runs/{run.pk}").content
    assert "The requested confidence was reached: a 99 % interval" in words(page)
    assert "NOT reached" not in words(page) and b'role="alert"' not in page


def test_an_open_run_says_how_many_combinations_are_to_go(signed_in: Client) -> None:
    run = finished_run([99e6, 100e6, 101e6])
    read = words(signed_in.get(f"/runs/{run.pk}").content)
    assert "1 of 1 combinations left" in read and "NOT reached" not in read


def test_a_run_of_a_plan_without_a_confidence_says_nothing_of_it(signed_in: Client) -> None:
    run = make_run(repetitions=2)
    assert "onfidence" not in words(signed_in.get(f"/runs/{run.pk}").content)
    assert make_plan().versions.get().requested_confidence is None
