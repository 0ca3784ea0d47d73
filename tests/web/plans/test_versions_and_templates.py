"""Templates, duplicates, what uses a plan, and its versions side by side."""

from typing import Any

import pytest
from django.test import Client

from benchweb.plans.expansion import validated_steps
from benchweb.plans.models import Plan
from benchweb.plans.services import plan_update
from benchweb.plans.templates import TEMPLATES, PlanTemplate
from benchweb.schedules.services import schedule_pause
from tests.factories import ONE_TRIAL, SIZES, make_plan, make_run, make_schedule
from tests.web.plans.test_plans import FORM


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda each: each.key)
def test_each_template_fills_the_editor_and_saves_as_it_is(signed_in: Client, template: PlanTemplate) -> None:
    answer = signed_in.get(f"/plans/new?template={template.key}")
    editor = answer.context["editor"]
    assert (editor.errors, editor.draft.name) == ({}, template.name)
    assert [step.kind for step in editor.draft.steps] == [step["kind"] for step in template.steps]
    sent: dict[str, Any] = {"name": template.name, "repetitions": "5", "order": "interleaved", "pause_seconds": "0"}
    sent |= {"step": [step.key for step in editor.draft.steps], "action": "save"}
    for step in editor.draft.steps:
        sent |= {f"{step.key}-kind": step.kind} | {f"{step.key}-{name}": text for name, text in step.texts.items()}
    signed_in.post("/plans/new", sent)
    assert Plan.objects.get().versions.get().steps == validated_steps(template.steps, 5, 5)


def test_an_empty_list_and_a_new_plan_offer_the_templates(signed_in: Client) -> None:
    for path in ("/plans", "/plans/new"):
        page = signed_in.get(path).content.decode()
        assert all(f"?template={each.key}" in page for each in TEMPLATES), path


def test_a_duplicate_begins_with_the_latest_version_and_a_name_of_its_own(signed_in: Client) -> None:
    plan = make_plan(name="sizes", steps=SIZES)
    assert f"/plans/new?copy={plan.pk}" in signed_in.get(f"/plans/{plan.pk}").content.decode()
    draft = signed_in.get(f"/plans/new?copy={plan.pk}").context["editor"].draft
    assert (draft.name, draft.steps[0].texts["message_size_bytes"]) == ("sizes (copy)", "64, 1Ki, 16Ki")


def test_saving_as_a_copy_leaves_the_plan_as_it_is(signed_in: Client) -> None:
    plan = make_plan(name="sizes", steps=ONE_TRIAL)
    signed_in.post(f"/plans/{plan.pk}/edit", FORM | {"action": "copy"})
    copy = Plan.objects.exclude(pk=plan.pk).get()
    assert (copy.name, len(copy.versions.get().steps)) == ("sizes (copy)", 2)
    assert plan.versions.get().steps == ONE_TRIAL


def test_a_refused_copy_makes_nothing(signed_in: Client) -> None:
    plan = make_plan(name="sizes")
    answer = signed_in.post(f"/plans/{plan.pk}/edit", FORM | {"a-message_size_bytes": "big", "action": "copy"})
    assert "&#x27;big&#x27; is not a number" in answer.content.decode()
    assert Plan.objects.count() == 1


def test_the_editor_says_which_schedules_take_a_new_version_and_from_when(signed_in: Client) -> None:
    run = make_run(name="sizes")
    plan = run.plan_version.plan
    assert "No schedule uses this plan." in signed_in.get(f"/plans/{plan.pk}/edit").content.decode()
    schedule = make_schedule(name="rack 7", plan=plan)
    page = " ".join(signed_in.get(f"/plans/{plan.pk}/edit").content.decode().split())
    assert f'<a href="/schedules/{schedule.pk}">rack 7</a> takes a new version from' in page
    assert "02:00" in page
    assert "1 run keeps the version that it was launched with." in page
    schedule_pause(schedule=schedule)
    page = " ".join(signed_in.get(f"/plans/{plan.pk}/edit").content.decode().split())
    assert "takes a new version once it is resumed." in page


def test_versions_stand_side_by_side_with_what_differs(signed_in: Client) -> None:
    plan = make_plan(name="sizes", steps=ONE_TRIAL)
    plan_update(plan=plan, name="sizes", steps=SIZES, repetitions=2, order="interleaved")
    page = signed_in.get(f"/plans/{plan.pk}/versions")
    whole, first, second = page.context["compared"].parts
    assert [(row.label, row.values, row.differs) for row in whole.rows] == [
        ("Repetitions", ["1", "2"], True),
        ("Order", ["interleaved (A B C, A B C, …)"] * 2, False),
        ("Pause between trials", ["0 s", "0 s"], False),
    ]
    rows = {row.label: row.values for row in first.rows}
    assert rows["Message size"] == ["16Ki B (default)", "64, 1Ki, 16Ki B"]
    assert [row.values[0] for row in second.rows] == [""] * len(second.rows)
    only = signed_in.get(f"/plans/{plan.pk}/versions?v=2").context["compared"]
    assert [version.number for version in only.versions] == [2]
    assert signed_in.get("/plans/999999/versions").status_code == 404
