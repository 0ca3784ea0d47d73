"""Plans: list, page, editor, preview."""

import pytest
from django.test import Client

from benchweb.catalog import catalog
from benchweb.plans.models import Plan, PlanVersion
from tests.factories import SIZES, make_plan, make_run

FORM = {
    "name": "sizes",
    "repetitions": "3",
    "order": "interleaved",
    "pause_seconds": "0",
    "step": ["a", "b"],
    "a-kind": "tcp_stream",
    "a-message_size_bytes": "64, 1k, 16Ki",
    "a-duration_seconds": "1",
    "b-kind": "tcp_rr",
    "b-request_size_bytes": "1",
    "b-duration_seconds": "1",
}


def test_an_empty_list_names_the_one_next_step(signed_in: Client) -> None:
    assert "Create the first plan" in signed_in.get("/plans").content.decode()


def test_the_list_says_what_each_plan_comes_to(signed_in: Client) -> None:
    make_plan(name="sizes", steps=SIZES, repetitions=3)
    plan, version, preview, _ = signed_in.get("/plans?q=SIZ").context["rows"][0]
    assert (plan.name, version.number, preview.count, preview.measured_seconds) == ("sizes", 1, 12, 12)
    assert signed_in.get("/plans?q=other").context["rows"] == []


def test_a_plan_is_saved_with_its_sweeps_as_numbers(signed_in: Client) -> None:
    response = signed_in.post("/plans/new", FORM | {"action": "save"})
    plan = Plan.objects.get()
    assert response.headers["Location"] == f"/plans/{plan.pk}"
    version = plan.versions.get()
    assert (plan.name, version.repetitions, version.order, version.pause_seconds) == ("sizes", 3, "interleaved", 0)
    assert version.steps == [
        {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1000, 16384], "duration_seconds": 1}},
        {"kind": "tcp_rr", "params": {"request_size_bytes": 1, "duration_seconds": 1}},
    ]


def test_ticked_boxes_are_a_sweep(signed_in: Client) -> None:
    boxes = {"a-direction": ["forward", "reverse"], "a-nodelay": ["false", "true"]}
    signed_in.post("/plans/new", FORM | boxes | {"action": "save"})
    params = PlanVersion.objects.get().steps[0]["params"]
    assert params["direction"] == ["forward", "reverse"]
    assert params["nodelay"] == [False, True]


def test_a_plan_of_a_hundred_steps_fits_into_one_form(signed_in: Client) -> None:
    steps = [f"s{number}" for number in range(100)]
    fields = {f"{step}-kind": "tcp_stream" for step in steps}
    # All fields of a step are sent, the empty ones too.
    fields |= {f"{step}-{name}": "" for step in steps for name in catalog().kinds["tcp_stream"].parameters}
    signed_in.post("/plans/new", FORM | fields | {"step": steps, "action": "save"})
    assert len(PlanVersion.objects.get().steps) == 100


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"name": ""}, "name", "A name has 1 to 100 characters."),
        ({"name": "x" * 101}, "name", "A name has 1 to 100 characters."),
        ({"repetitions": ""}, "repetitions", "Enter a number."),
        ({"repetitions": "many"}, "repetitions", "&#x27;many&#x27; is not a number."),
        ({"repetitions": "1.5"}, "repetitions", "Repetitions must be a whole number."),
        ({"repetitions": "0"}, "repetitions", "repetitions is 0, but must be from 1 to 1,000."),
        ({"repetitions": "inf"}, "repetitions", "is not a number."),
        ({"pause_seconds": "3601"}, "pause_seconds", "must be from 0 to 3600 s."),
        ({"pause_seconds": "nan"}, "pause_seconds", "is not a number."),
        ({"order": "backwards"}, "order", "but must be one of interleaved, sequential, shuffled."),
        ({"a-kind": "tcp_strem"}, "a-kind", "There is no test kind &#x27;tcp_strem&#x27;"),
        ({"a-message_size_bytes": "64, 1Gi"}, "a-message_size_bytes", "must be from 1 to 134,217,728 B."),
        ({"a-message_size_bytes": "64, 64"}, "a-message_size_bytes", "names a value twice"),
        ({"a-message_size_bytes": "big"}, "a-message_size_bytes", "&#x27;big&#x27; is not a number"),
        ({"a-direction": "sideways"}, "a-direction", "must be one of forward, reverse, bidirectional."),
        ({"a-source_cpus": "all"}, "a-source_cpus", "CPUs that the source&#x27;s threads are pinned to"),
        ({"step": []}, "steps", "The plan has no step: add at least one test kind."),
    ],
)
def test_a_refused_plan_changes_nothing_and_keeps_what_was_typed(
    signed_in: Client, changes: dict[str, str], field: str, message: str
) -> None:
    typed = FORM | changes
    response = signed_in.post("/plans/new", typed | {"action": "save"})
    text = response.content.decode()
    assert response.status_code == 200
    assert message in text
    assert field in response.context["editor"].errors
    # A name or an order at fault leaves the trials as they are.
    assert (response.context["editor"].preview is None) == (field not in ("name", "order"))
    assert f'value="{typed["a-message_size_bytes"]}"' in text or changes in ({"step": []}, {"a-kind": "tcp_strem"})
    assert Plan.objects.count() == 0


def test_a_sweep_of_a_million_trials_is_refused_at_once(signed_in: Client) -> None:
    thousand = ", ".join(map(str, range(1, 1001)))
    changes = {"a-message_size_bytes": thousand, "a-flows": thousand, "action": "save"}
    response = signed_in.post("/plans/new", FORM | changes)
    assert "The plan makes 3,000,003 trials, but at most 10,000 are allowed" in response.content.decode()
    assert Plan.objects.count() == 0


def test_every_wrong_field_is_named_not_only_the_first(signed_in: Client) -> None:
    changes = {"a-message_size_bytes": "0", "b-request_size_bytes": "x", "repetitions": "many"}
    editor = signed_in.post("/plans/preview", FORM | changes).context["editor"]
    assert editor.errors.keys() == {"a-message_size_bytes", "b-request_size_bytes", "repetitions"}
    assert [problem.label for problem in editor.problems] == [
        "Repetitions",
        "Step 1, message size",
        "Step 2, request size",
    ]


def test_an_edited_plan_gets_a_new_version_and_runs_keep_theirs(signed_in: Client) -> None:
    run = make_run(name="sizes", steps=SIZES)
    plan = run.plan_version.plan
    page = signed_in.get(f"/plans/{plan.pk}/edit").content.decode()
    assert 'value="64, 1Ki, 16Ki"' in page
    signed_in.post(f"/plans/{plan.pk}/edit", FORM | {"name": "renamed", "action": "save"})
    plan.refresh_from_db()
    assert plan.name == "renamed"
    assert list(plan.versions.values_list("number", flat=True)) == [2, 1]
    run.refresh_from_db()
    assert run.plan_version.number == 1


def test_saving_without_a_change_makes_no_version(signed_in: Client) -> None:
    signed_in.post("/plans/new", FORM | {"action": "save"})
    plan = Plan.objects.get()
    signed_in.post(f"/plans/{plan.pk}/edit", FORM | {"action": "save"})
    assert plan.versions.count() == 1


@pytest.mark.parametrize(
    ("action", "keys"),
    [
        ("add", ["a", "b", "s0"]),
        ("remove:a", ["b"]),
        ("up:b", ["b", "a"]),
        ("down:a", ["b", "a"]),
        ("up:a", ["a", "b"]),
        ("down:b", ["a", "b"]),
        ("remove:nobody", ["a", "b"]),
        ("", ["a", "b"]),
    ],
)
@pytest.mark.parametrize("url", ["/plans/steps", "/plans/new"])
def test_a_button_changes_the_steps_and_saves_nothing(
    signed_in: Client, url: str, action: str, keys: list[str]
) -> None:
    response = signed_in.post(url, FORM | {"action": action})
    editor = response.context["editor"]
    assert [step.key for step in editor.steps] == keys
    kept = {step.key: {field.name: field.text for field in step.fields} for step in editor.steps}
    assert "a" not in kept or kept["a"]["message_size_bytes"] == "64, 1k, 16Ki"
    assert Plan.objects.count() == 0


def test_the_fields_come_from_the_catalog_with_unit_bounds_and_default(signed_in: Client) -> None:
    step = signed_in.get("/plans/new").context["editor"].steps[0]
    first = step.fields[0]
    assert (step.kind.name, first.label, first.unit) == ("tcp_stream", "Message size", "B")
    assert (first.bounds, first.placeholder, first.text) == ("1 to 128Mi B", "16Ki", "")
    assert [field.name for field in step.fields] == ["message_size_bytes", "duration_seconds", "flows", "direction"]
    assert [choice.label for choice in step.fields[3].choices] == ["forward (default)", "reverse", "bidirectional"]
    assert len(step.more) == len(step.kind.parameters) - 4


def test_another_kind_keeps_the_parameters_that_it_shares(signed_in: Client) -> None:
    editor = signed_in.post("/plans/steps", FORM | {"a-kind": "udp_stream"}).context["editor"]
    step = editor.steps[0]
    assert step.kind.name == "udp_stream"
    assert step.fields[0].text == "64, 1k, 16Ki"
    assert step.fields[0].bounds == "1 to 65507 B"


@pytest.mark.parametrize(
    ("changes", "count", "measured", "held"),
    [
        ({}, 12, 12, 24),
        ({"pause_seconds": "0.5"}, 12, 12, 29.5),
        ({"repetitions": "1", "step": ["b"]}, 1, 1, 2),
        ({"a-warmup_seconds": "2"}, 12, 30, 42),
    ],
)
def test_the_preview_counts_trials_and_time(
    signed_in: Client, changes: dict[str, str], count: int, measured: float, held: float
) -> None:
    preview = signed_in.post("/plans/preview", FORM | changes).context["editor"].preview
    assert (preview.count, preview.measured_seconds, preview.held_seconds) == (count, measured, held)
    assert preview.resources == "both hosts of the pair exclusively: no other test runs on them."


def test_the_preview_lists_trials_in_the_asked_order_with_what_is_swept(signed_in: Client) -> None:
    preview = signed_in.post("/plans/preview", FORM | {"order": "sequential"}).context["editor"].preview
    first = [(trial.kind, trial.swept, trial.repetition) for trial in preview.trials[:4]]
    assert first == [
        ("tcp_stream", {"message_size_bytes": 64}, 1),
        ("tcp_stream", {"message_size_bytes": 64}, 2),
        ("tcp_stream", {"message_size_bytes": 64}, 3),
        ("tcp_stream", {"message_size_bytes": 1000}, 1),
    ]


def test_a_long_preview_shows_the_first_trials_and_counts_the_rest(signed_in: Client) -> None:
    changes = {"repetitions": "1000", "step": ["b"]}
    text = signed_in.post("/plans/preview", FORM | changes).content.decode()
    assert text.count("<tr>") == 61
    assert "and 940 more" in text


def test_a_mended_field_loses_its_error(signed_in: Client) -> None:
    wrong = signed_in.post("/plans/preview", FORM | {"a-flows": "0"}).content.decode()
    mended = signed_in.post("/plans/preview", FORM | {"a-flows": "1"}).content.decode()
    assert 'id="error-a-flows" aria-live="polite" hx-swap-oob="true">flows is 0, but must be' in wrong
    assert 'id="error-a-flows" aria-live="polite" hx-swap-oob="true"></div>' in mended


def test_a_plan_shows_each_of_its_versions(signed_in: Client) -> None:
    signed_in.post("/plans/new", FORM | {"action": "save"})
    plan = Plan.objects.get()
    signed_in.post(f"/plans/{plan.pk}/edit", FORM | {"repetitions": "5", "action": "save"})
    assert signed_in.get(f"/plans/{plan.pk}").context["preview"].count == 20
    old = signed_in.get(f"/plans/{plan.pk}?version=1")
    assert old.context["preview"].count == 12
    assert "message size 64 B, 1,000 B, 16 KiB" in old.content.decode()
    assert signed_in.get(f"/plans/{plan.pk}?version=3").status_code == 404


def test_an_archived_plan_leaves_the_list_and_comes_back(signed_in: Client) -> None:
    plan = make_plan()
    assert "Kept, with results and links: 0 runs." in signed_in.get(f"/plans/{plan.pk}/archive").content.decode()
    signed_in.post(f"/plans/{plan.pk}/archive")
    assert signed_in.get("/plans").context["rows"] == []
    assert "Restore" in signed_in.get(f"/plans/{plan.pk}").content.decode()
    signed_in.post(f"/plans/{plan.pk}/restore")
    assert len(signed_in.get("/plans").context["rows"]) == 1


def test_a_plan_of_too_few_repetitions_to_be_compared_says_so(signed_in: Client) -> None:
    words = "Too few repetitions to compare runs</strong> (minimum 4;"
    assert 'name="repetitions" value="5"' in signed_in.get("/plans/new").content.decode()
    assert words in signed_in.post("/plans/preview", FORM).content.decode()
    assert words not in signed_in.post("/plans/preview", FORM | {"repetitions": "4"}).content.decode()


def test_a_parameter_out_of_its_bounds_is_refused_in_the_reader_s_language(signed_in: Client) -> None:
    signed_in.cookies["language"] = "zh-hans"
    text = signed_in.post("/plans/new", FORM | {"action": "save", "a-flows": "0"}).content.decode()
    assert "flows 为 0，但范围必须是 1 至" in text
    assert Plan.objects.count() == 0
