"""Labels of hosts, pairs and plans: given on forms and to ticked rows, shown, filtered by and exported."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from benchweb.hosts.models import Host, Pair
from benchweb.labels import MAXIMUM_LABELS, Labelled
from benchweb.plans.models import Plan
from tests.factories import make_endpoint, make_pair, make_plan

MODELS: dict[str, type[Labelled]] = {"hosts": Host, "pairs": Pair, "plans": Plan}
pytestmark = pytest.mark.django_db
every_list = pytest.mark.parametrize("name", MODELS)


def rows(name: str, number: int = 3) -> list[Any]:
    make: dict[str, Callable[[], Any]] = {"hosts": lambda: make_endpoint().host, "pairs": make_pair, "plans": make_plan}
    return [make[name]() for _ in range(number)]


def labels_of(*labelled: Any) -> list[list[str]]:
    return [type(row).objects.get(pk=row.pk).labels for row in labelled]


@every_list
def test_ticked_rows_get_a_label_and_lose_it(signed_in: Client, name: str) -> None:
    first, second, other = rows(name)
    MODELS[name]._default_manager.filter(pk=first.pk).update(labels=["rack-7"])
    ticked = {"rows": [first.pk, second.pk], "label": " rack-7 ", "back": f"/{name}?q=host"}
    answer = signed_in.post(f"/{name}/label", ticked | {"action": "label"})
    assert answer["Location"] == f"/{name}?q=host"
    assert labels_of(first, second, other) == [["rack-7"], ["rack-7"], []]
    assert f"The labels of 2 {name} are changed." in signed_in.get(f"/{name}").content.decode()
    signed_in.post(f"/{name}/label", ticked | {"action": "unlabel"})
    assert labels_of(first, second) == [[], []]


@every_list
def test_no_label_and_one_too_many_are_refused(signed_in: Client, name: str) -> None:
    full, free = rows(name, 2)
    MODELS[name]._default_manager.filter(pk=full.pk).update(labels=[f"label-{n}" for n in range(MAXIMUM_LABELS)])
    sent = {"rows": [full.pk, free.pk], "action": "label"}
    for label, message in (("", "A label has 1 to 60"), ("a,b", "has a comma"), ("one more", f"{full} has 20 labels")):
        page = signed_in.post(f"/{name}/label", sent | {"label": label}, follow=True).content.decode()
        assert message in page
    assert labels_of(free) == [[]]
    page = signed_in.post(f"/{name}/label", {"action": "label", "label": "x"}, follow=True).content.decode()
    assert "Nothing is selected" in page


@every_list
def test_a_list_is_filtered_by_label_and_says_it_on_rows_and_pages(signed_in: Client, name: str) -> None:
    labelled, other = rows(name, 2)
    MODELS[name]._default_manager.filter(pk=labelled.pk).update(labels=["rack 7"])
    chip = f'<a class="flag" href="/{name}?label=rack%207">rack 7</a>'
    for query in ("label=rack%207", "q=rack 7"):
        page = signed_in.get(f"/{name}?{query}").content.decode()
        assert f'href="/{name}/{labelled.pk}"' in page and f'href="/{name}/{other.pk}"' not in page
        assert chip in page
    assert "<option selected>rack 7</option>" in signed_in.get(f"/{name}?label=rack%207").content.decode()
    assert chip in signed_in.get(f"/{name}/{labelled.pk}").content.decode()
    assert "Nothing matches these filters." in signed_in.get(f"/{name}?label=none").content.decode()
    answer: Any = signed_in.post(f"/lists/{name}/export", {"rows": [labelled.pk, other.pk]})
    exported = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [row["labels"] for row in exported] == ["rack 7", ""]


def test_a_pair_is_labelled_where_it_is_made_and_where_it_is_changed(signed_in: Client) -> None:
    pair = make_pair()
    values = {"environment": pair.environment_id, "labels": "a,b"}
    ends = {"source": pair.sink_id, "sink": pair.source_id}
    signed_in.post("/pairs/new", values | ends)
    made = Pair.objects.get(**ends)
    assert made.labels == ["a", "b"]
    assert 'value="a, b"' in signed_in.get(f"/pairs/{made.pk}/edit").content.decode()
    signed_in.post(f"/pairs/{made.pk}/edit", values | {"labels": "b, , c"})
    assert labels_of(made) == [["b", "c"]]
    page = signed_in.post(f"/pairs/{made.pk}/edit", values | {"labels": "x" * 61}).content.decode()
    assert "A label has 1 to 60 characters." in page
    assert labels_of(made) == [["b", "c"]]


def test_a_plan_is_labelled_in_the_editor_and_keeps_its_version(signed_in: Client) -> None:
    plan = make_plan(labels=["nightly"])
    page = signed_in.get(f"/plans/{plan.pk}/edit").content.decode()
    assert 'name="labels" value="nightly"' in page
    values = {"name": "sizes", "repetitions": 1, "order": "interleaved", "pause_seconds": 0, "action": "save"}
    steps = {"step": "s0", "s0-kind": "tcp_stream", "s0-duration_seconds": "1"}
    signed_in.post(f"/plans/{plan.pk}/edit", values | steps | {"labels": "rack-7, nightly"})
    assert labels_of(plan) == [["rack-7", "nightly"]]
    count = plan.versions.count()
    page = signed_in.post(f"/plans/{plan.pk}/edit", values | steps | {"labels": "x" * 61}).content.decode()
    assert 'id="error-labels"' in page and "A label has 1 to 60 characters." in page
    signed_in.post(f"/plans/{plan.pk}/edit", values | steps | {"labels": ""})
    assert labels_of(plan) == [[]]
    assert plan.versions.count() == count
