"""Who may define a kind or a metric, where it holds, and how admins retire and delete it."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set
from benchweb.accounts.services import token_create
from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.imports.models import OwnKind, OwnMetric
from benchweb.imports.own_kinds import MetricDefinition, define
from benchweb.imports.own_rules import Definer, DefinitionRefused
from benchweb.imports.services import ImportRefused, import_results, preview
from benchweb.regressions.judging.judge import judge_run
from benchweb.regressions.models import Alert, Threshold
from benchweb.results.models import Point, Result, Series
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from tests.api.conftest import ApiClient
from tests.factories import make_alert, make_environment, make_pair, make_threshold

pytestmark = pytest.mark.django_db


def boot(pair: Pair, key: str, **changes: Any) -> dict[str, Any]:
    """Return a body of a kind of one's own."""
    metrics = [{"name": "boot_seconds", "unit": "s", "better": "lower", "label": "Boot time", "values": [12.5, 12.7]}]
    body: dict[str, Any] = {"key": key, "tool": "bootlab", "pair": pair.pk, "kind": "boot", "label": "Boot"}
    return body | {"metrics": metrics, "params": {"image": "debian-12"}} | changes


def caller(name: str, *, everywhere: str = "viewer", **roles: Any) -> ApiClient:
    """Return the API as somebody with a role everywhere, and others in environments: `operator=lab`."""
    user = User.objects.create_user(name)
    role_set(role=everywhere, user=user)
    for role, environment in roles.items():
        role_set(role=role, user=user, environment_id=environment.pk)
    return ApiClient(token_create(user=user, name="scripts")[1])


@pytest.fixture(autouse=True)
def an_admin(db: None) -> None:
    """Have an admin, without whom nobody's role may change."""
    User.objects.create_superuser("root")


@pytest.fixture
def lab() -> Pair:
    return make_pair(environment="lab")


@pytest.fixture
def floor() -> Pair:
    return make_pair(environment="floor")


def defined() -> tuple[list[str], list[str]]:
    kinds = OwnKind.objects.order_by("name").values_list("name", flat=True)
    return list(kinds), list(OwnMetric.objects.order_by("key").values_list("key", flat=True))


def test_an_operator_defines_nothing_and_uses_what_is_defined(lab: Pair) -> None:
    operator = caller("olga", operator=lab.environment)
    editor = caller("edith", editor=lab.environment)
    refused = operator.post("/results", boot(lab, "1"))
    assert refused.status_code == 403
    assert "boot_seconds isn't defined yet: that takes the role editor in lab. Ask an editor" in refused.json()["detail"]
    assert (defined(), Run.objects.count()) == (([], []), 0)
    assert AuditEntry.objects.filter(action="refused", user_name="olga").count() == 1
    assert editor.post("/results", boot(lab, "1")).status_code == 201
    assert operator.post("/results", boot(lab, "2")).status_code == 201
    # Neither a metric nor a parameter is added by who may not define.
    frames = {"name": "frames", "unit": "frame/s", "better": "higher", "values": [60]}
    for change in ({"metrics": [frames]}, {"params": {"kernel": "6.6"}}):
        assert operator.post("/results", boot(lab, "3", **change)).status_code == 403
    assert defined() == (["own.boot"], ["boot_seconds"])
    assert OwnKind.objects.get().parameters == {"image": "string"}
    assert Run.objects.count() == 2


def test_what_an_editor_of_one_environment_defines_belongs_to_it(lab: Pair, floor: Pair) -> None:
    of_lab = caller("edith", editor=lab.environment)
    of_floor = caller("fred", editor=floor.environment)
    everywhere = caller("eve", everywhere="editor")
    assert of_lab.post("/results", boot(lab, "1")).status_code == 201
    assert OwnKind.objects.get().environment == OwnMetric.objects.get().environment == lab.environment
    # The same name with another meaning, or with the same: neither changes the first.
    for api in (of_floor, everywhere):
        clash = api.post("/results", boot(floor, "2"))
        assert (clash.status_code, clash.json()["errors"][0]["field"]) == (422, "metrics.0.name")
        assert "boot_seconds belongs to the environment lab: use another name" in clash.json()["detail"]
    own_metric = [{"name": "start_seconds", "unit": "ms", "better": "lower", "values": [3]}]
    clash = of_floor.post("/results", boot(floor, "2", metrics=own_metric))
    assert (clash.status_code, clash.json()["errors"][0]["field"]) == (422, "kind")
    assert defined() == (["own.boot"], ["boot_seconds"])
    assert catalog().metrics["boot_seconds"].unit == "s"


def test_what_an_editor_of_all_defines_belongs_to_all_and_only_they_add_to_it(lab: Pair, floor: Pair) -> None:
    everywhere = caller("eve", everywhere="editor")
    of_floor = caller("fred", editor=floor.environment)
    assert everywhere.post("/results", boot(lab, "1")).status_code == 201
    assert OwnKind.objects.get().environment is None
    assert of_floor.post("/results", boot(floor, "1")).status_code == 201
    frames = {"name": "frames", "unit": "frame/s", "better": "higher", "values": [60]}
    refused = of_floor.post("/results", boot(floor, "2", metrics=[frames]))
    assert refused.status_code == 403
    assert "own.boot: frames isn't defined yet, and would be for all environments" in refused.json()["detail"]
    assert defined() == (["own.boot"], ["boot_seconds"])


@pytest.mark.parametrize("unit", ["<p/hx-post=/logout>", "a&b", 'a"', "a'", "a\nb", "\u202es", "u" * 21])
def test_a_unit_that_could_be_markup_is_refused_at_every_door(api: ApiClient, lab: Pair, unit: str) -> None:
    metric = {"name": "boot_seconds", "unit": unit, "better": "lower", "values": [1]}
    refused = api.post("/results", boot(lab, "1", metrics=[metric]))
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "metrics.0.unit")
    assert (defined(), Run.objects.count()) == (([], []), 0)


def test_no_definition_has_a_name_or_a_unit_that_could_be_markup(lab: Pair) -> None:
    good: dict[str, Any] = {"name": "boot", "label": "", "metrics": [], "params": {}}
    hostile = "<p/hx-post=/logout>"
    for field, change in {
        "kind": {"name": hostile},
        "metrics.0.name": {"metrics": [MetricDefinition(hostile, "s", "lower")]},
        "metrics.0.unit": {"metrics": [MetricDefinition("level", hostile, "lower")]},
        f"params.{hostile}": {"params": {hostile: 1}},
    }.items():
        with pytest.raises(DefinitionRefused) as refused, transaction.atomic():
            define(**good | change, by=Definer(None, lab.environment))
        assert refused.value.field == field
    assert defined() == ([], [])


def test_an_imported_table_names_no_tool_that_could_be_markup(lab: Pair) -> None:
    text = "| kind | tool | repetition | level (s) |\n| --- | --- | --- | ---: |\n| boot | <plaintext> | 1 | 12.5 |\n"
    with pytest.raises(ImportRefused, match="can't name a kind"):
        import_results(preview(text.encode()), pair=lab, user=None)
    assert (defined(), Run.objects.count()) == (([], []), 0)


def test_an_operator_is_told_in_words_that_an_imported_text_defines_something(lab: Pair) -> None:
    operator = User.objects.create_user("olga")
    role_set(role="operator", user=operator)
    text = "| kind | tool | repetition | level (s) |\n| --- | --- | --- | ---: |\n| boot | lab | 1 | 12.5 |\n"
    with pytest.raises(ImportRefused, match="level isn't defined yet: that takes the role editor in lab"):
        import_results(preview(text.encode()), pair=lab, user=operator)
    assert (defined(), Run.objects.count()) == (([], []), 0)
