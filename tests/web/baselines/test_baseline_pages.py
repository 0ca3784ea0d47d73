"""Baselines on their pages: a run is pinned, named on later runs' pages, unpinned and restored."""

from django.test import Client

from benchweb.regressions.models import Baseline
from benchweb.runs.models import Run
from tests.factories import make_pair, make_run
from tests.regressions.judged import judged


def test_a_run_is_pinned_and_named_on_the_pages_of_its_pair_and_plan(signed_in: Client) -> None:
    first, second = judged(make_pair(), [1.0, 0.9])
    Run.objects.filter(pk=second.pk).update(plan_version=first.plan_version)
    assert f'href="/runs/{first.pk}/pin"' in signed_in.get(f"/runs/{first.pk}").content.decode()
    assert not signed_in.get(f"/runs/{second.pk}/baseline").content.strip()
    answer = signed_in.post(f"/runs/{first.pk}/pin", {"name": "since <5.2>"})
    assert answer["Location"] == f"/runs/{first.pk}"
    baseline = Baseline.objects.get()
    assert (baseline.name, baseline.run, baseline.pinned_by and baseline.pinned_by.username) == (
        "since <5.2>",
        first,
        "ada",
    )
    assert "Pinned as the baseline “since &lt;5.2&gt;”" in signed_in.get(f"/runs/{first.pk}/baseline").content.decode()
    beside = signed_in.get(f"/runs/{second.pk}/baseline").content.decode()
    assert f'href="/compare?runs={first.pk},{second.pk}"' in beside
    assert "It replaces “since &lt;5.2&gt;”" in signed_in.get(f"/runs/{second.pk}/pin").content.decode()


def test_the_list_says_which_holds_and_unpinning_is_undone(signed_in: Client) -> None:
    first, second = judged(make_pair(), [1.0, 0.9])
    Run.objects.filter(pk=second.pk).update(plan_version=first.plan_version)
    for run, name in ((first, "5.1"), (second, "5.2")):
        signed_in.post(f"/runs/{run.pk}/pin", {"name": name})
    page = signed_in.get("/baselines").content.decode()
    assert page.count("replaced by a newer one") == 1
    newer = Baseline.objects.get(name="5.2")
    assert "the baseline that was pinned before it" in signed_in.get(f"/baselines/{newer.pk}/archive").content.decode()
    signed_in.post(f"/baselines/{newer.pk}/archive")
    assert "replaced" not in signed_in.get("/baselines").content.decode()
    assert f'action="/baselines/{newer.pk}/restore"' in signed_in.get("/baselines?archived=1").content.decode()
    signed_in.post(f"/baselines/{newer.pk}/restore")
    assert signed_in.get("/baselines").content.decode().count("replaced by a newer one") == 1
    assert signed_in.get("/baselines?pair=x&plan=-1&q=%27").status_code == 200


def test_a_run_that_has_not_ended_or_without_a_name_is_not_pinned(signed_in: Client) -> None:
    run = make_run()
    page = signed_in.post(f"/runs/{run.pk}/pin", {"name": "5.2"}).content.decode()
    assert "A run that has not ended is no baseline yet." in page
    (ended,) = judged(make_pair(), [1.0])
    assert "Name is required." in signed_in.post(f"/runs/{ended.pk}/pin", {"name": " "}).content.decode()
    assert Baseline.objects.count() == 0
