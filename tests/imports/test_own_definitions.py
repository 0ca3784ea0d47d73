"""Who may define a kind or a metric, where it holds, and how admins retire and delete it."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.test import Client

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.roles.grants import role_set
from benchweb.accounts.services import token_create
from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.imports.models import OwnKind, OwnMetric
from benchweb.imports.own_kinds import MetricDefinition, define, definitions
from benchweb.imports.own_rules import Definer, DefinitionRefused
from benchweb.imports.services import ImportRefused, import_results, preview
from benchweb.regressions.models import Alert, AlertSeries, SlowChange, Threshold
from benchweb.results.models import Point, Result, RunFigure, Series
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from tests.api.conftest import ApiClient
from tests.factories import make_alert, make_pair, make_threshold
from tests.regressions.slow.nights import make_slow_change

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
    detail = refused.json()["detail"]
    assert "boot_seconds isn't defined yet: that takes the role editor in lab. Ask an editor" in detail
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
    changes: dict[str, dict[str, Any]] = {
        "kind": {"name": hostile},
        "metrics.0.name": {"metrics": [MetricDefinition(hostile, "s", "lower")]},
        "metrics.0.unit": {"metrics": [MetricDefinition("level", hostile, "lower")]},
        f"params.{hostile}": {"params": {hostile: 1}},
    }
    for field, change in changes.items():
        with pytest.raises(DefinitionRefused) as refused, transaction.atomic():
            define(**good | change, by=Definer(None, lab.environment))
        assert refused.value.field == field
    assert defined() == ([], [])


def test_a_tools_own_round_trips_are_better_when_lower_and_so_are_those_of_before(lab: Pair) -> None:
    text = (Path(__file__).parents[1] / "toolformats" / "outputs" / "sockperf.txt").read_bytes()
    import_results(preview(text), pair=lab, user=None)
    trips = OwnMetric.objects.filter(key__startswith="half_round_trip_")
    assert set(trips.values_list("better", flat=True)) == {"lower"}
    trips.update(better="neutral")
    import_module("benchweb.imports.migrations.0003_round_trips").give_direction(apps, None)
    definitions.forget()
    import_results(preview(text + b"\n"), pair=lab, user=None)
    assert set(trips.values_list("better", flat=True)) == {"lower"}


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


def measured(api: ApiClient, pair: Pair, nights: int = 3) -> None:
    """Push some nights of the kind, one of which an alert and a threshold go by."""
    for night in range(nights):
        assert api.post("/results", boot(pair, str(night))).status_code == 201
    rebuild()
    series = Series.objects.get(kind="own.boot")
    for alert in (make_alert(pair=pair), make_alert(pair=pair)):
        run = Run.objects.latest("pk")
        times = {"before": 1, "after": 2}
        AlertSeries.objects.create(alert=alert, series=series, first_bad_run=run, segment_key=str(alert.pk), **times)
    make_threshold(kind="own.boot", metric="boot_seconds")
    make_slow_change(series)


def left() -> dict[str, int]:
    models: tuple[type[Model], ...] = (
        OwnKind,
        OwnMetric,
        Series,
        Point,
        RunFigure,
        Result,
        Alert,
        Threshold,
        Run,
        SlowChange,
    )
    return {model.__name__: model._default_manager.count() for model in models}


def test_a_retired_kind_takes_no_results_and_is_read_as_before(api: ApiClient, lab: Pair, signed_in: Client) -> None:
    run = api.post("/results", boot(lab, "1")).json()["run"]
    kind, metric = OwnKind.objects.get(), OwnMetric.objects.get()
    for path, row, words in (("own-kinds", kind, "own.boot is retired"), ("own-metrics", metric, "boot_seconds is re")):
        changed = api.patch(f"/{path}/{row.pk}", {"is_retired": True})
        assert (changed.status_code, changed.json()["retired_at"] is not None) == (200, True)
        refused = api.post("/results", boot(lab, "2"))
        assert refused.status_code == 422
        assert words in refused.json()["detail"]
        assert "Boot time" in signed_in.get(f"/runs/{run}").content.decode()
        assert api.patch(f"/{path}/{row.pk}", {"is_retired": False}).json()["retired_at"] is None
    assert api.post("/results", boot(lab, "2")).status_code == 201
    entries = AuditEntry.objects.filter(table="imports_ownmetric", action="changed")
    assert {entry.object_name for entry in entries} == {"boot_seconds"}


def test_an_admin_opens_what_belongs_to_one_environment_to_all(api: ApiClient, lab: Pair, floor: Pair) -> None:
    of_lab, of_floor = caller("edith", editor=lab.environment), caller("fred", operator=floor.environment)
    of_lab.post("/results", boot(lab, "1"))
    assert of_floor.post("/results", boot(floor, "2")).status_code == 422
    for path, row in (("own-kinds", OwnKind.objects.get()), ("own-metrics", OwnMetric.objects.get())):
        assert of_lab.patch(f"/{path}/{row.pk}", {"environment": None}).status_code == 403
        assert api.patch(f"/{path}/{row.pk}", {"environment": None}).json()["environment"] is None
    assert of_floor.post("/results", boot(floor, "2")).status_code == 201


@pytest.mark.parametrize("path", ["own-kinds", "own-metrics"])
def test_what_is_deleted_is_named_before_and_leaves_nothing(api: ApiClient, lab: Pair, path: str) -> None:
    measured(api, lab)
    before = left()
    own = api.get(f"/{path}").json()["items"][0]["id"]
    asked = api.delete(f"/{path}/{own}")
    assert (asked.status_code, asked.json()["insist"]) == (409, "is_confirmed")
    losses = "with 1 series, 6 points, the figures of 3 runs, 2 alerts, 1 threshold."
    assert losses in asked.json()["detail"]
    assert left() == before
    assert caller("edith", everywhere="editor").delete(f"/{path}/{own}?is_confirmed=true").status_code == 403
    assert api.delete(f"/{path}/{own}?is_confirmed=true").status_code == 204
    assert left() == before | {"Series": 0, "Point": 0, "RunFigure": 0, "Alert": 0, "Threshold": 0, "SlowChange": 0} | (
        {"OwnKind": 0, "Result": 0} if path == "own-kinds" else {"OwnMetric": 0}
    )
    assert not any(metrics for metrics in Result.objects.values_list("metrics", flat=True))


def test_a_kind_that_is_left_without_a_metric_harms_no_page(lab: Pair, signed_in: Client) -> None:
    OwnKind.objects.create(name="own.empty", label="Empty", metrics=["gone_seconds"], parameters={})
    definitions.read_now()
    for address in ("/", "/pairs", f"/pairs/{lab.pk}", "/runs", "/history", "/matrix", "/launch", "/own-kinds"):
        assert signed_in.get(address).status_code == 200, address


def test_a_name_is_free_again_once_it_is_deleted_and_old_runs_are_not_read_by_it(
    api: ApiClient, lab: Pair, signed_in: Client
) -> None:
    run = api.post("/results", boot(lab, "1")).json()["run"]
    for path, row in (("own-kinds", OwnKind.objects.get()), ("own-metrics", OwnMetric.objects.get())):
        assert api.delete(f"/{path}/{row.pk}?is_confirmed=true").status_code == 204
    other = [{"name": "boot_seconds", "unit": "widget", "better": "higher", "values": [60]}]
    assert api.post("/results", boot(lab, "2", metrics=other)).status_code == 201
    page = signed_in.get(f"/runs/{run}")
    assert (page.status_code, 'data-unit="widget"' in page.content.decode()) == (200, False)
    assert signed_in.get("/runs").status_code == 200


def test_admins_retire_and_delete_on_a_page_that_others_only_read(api: ApiClient, lab: Pair) -> None:
    measured(api, lab)
    kind = OwnKind.objects.get()
    reader, admin = Client(), Client()
    reader.force_login(User.objects.create_user("edith"))
    role_set(role="editor", user=User.objects.get(username="edith"))
    admin.force_login(User.objects.get(username="root"))
    change, removal = f"/own-kinds/kind/{kind.pk}/change", f"/own-kinds/kind/{kind.pk}/delete"
    assert "own.boot" in reader.get("/own-kinds").content.decode()
    assert removal not in reader.get("/own-kinds").content.decode()
    assert [reader.post(change, {"action": "retire"}).status_code, reader.post(removal).status_code] == [403, 403]
    assert admin.post(change, {"action": "retire"}, follow=True).status_code == 200
    kind.refresh_from_db()
    assert kind.retired_at is not None
    asked = admin.get(removal).content.decode()
    assert "Deleted with it: 1 series, 6 points, the figures of 3 runs, 2 alerts, 1 threshold." in asked
    assert OwnKind.objects.exists()
    assert admin.post(removal, follow=True).status_code == 200
    assert not OwnKind.objects.exists()
