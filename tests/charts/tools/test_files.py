"""A run's files for other tools, by REST and from its page, and imported again on another pair."""

import json

import pytest
from django.test import Client

from benchweb.runs.models import Run
from tests.api.conftest import ApiClient
from tests.charts.run.test_export import take_in
from tests.factories import SIZES, make_pair, make_run
from tests.imports.conftest import api, signed_in, user  # noqa: F401
from tests.imports.test_imports import SIZES as PUBLISHED

pytestmark = pytest.mark.django_db


def figures(run: int) -> list[tuple[str, dict[str, float]]]:
    """Return each trial's kind and rates."""
    rates = ("throughput_bps", "send_throughput_bps", "transactions_per_second", "sent_packets", "received_packets")
    trials = Run.objects.get(pk=run).trials.order_by("index").select_related("result")
    return [
        (trial.kind, {name: trial.result.metrics[name] for name in rates if name in trial.result.metrics})
        for trial in trials
    ]


def test_a_published_report_goes_out_and_in_again_with_equal_numbers(api: ApiClient) -> None:  # noqa: F811
    first = api.post("/imports", {"pair": make_pair().pk, "text": PUBLISHED}).json()["run"]
    text = api.get(f"/runs/{first}/results.txt").getvalue()
    assert b"\n131072  16384      1    60.00    0.31\n" in text
    assert b"\n212992       1   60.00      880003      0       0.12\n212992           60.00      390643" in text
    for suffix in ("txt", "md"):
        written = api.get(f"/runs/{first}/results.{suffix}").getvalue().decode()
        again = api.post("/imports", {"pair": make_pair().pk, "text": written}).json()["run"]
        assert figures(again) == figures(first)
    streams = api.get(f"/runs/{first}/results.iperf3.json").getvalue().decode()
    assert len(json.loads(streams)) == 25
    again = api.post("/imports", {"pair": make_pair().pk, "text": streams}).json()["run"]
    for (kind, metrics), (_, written_metrics) in zip(figures(again), figures(first), strict=False):
        for metric in ("throughput_bps", "send_throughput_bps"):
            assert metrics.get(metric) == written_metrics.get(metric), kind


def test_the_run_page_has_the_same_files_as_the_api(api: ApiClient, signed_in: Client) -> None:  # noqa: F811
    run = make_run(steps=SIZES)
    take_in(run.trials.get(index=1))
    page = signed_in.get(f"/runs/{run.pk}").content.decode()
    for tool, suffix in (("netperf", "txt"), ("iperf3", "iperf3.json"), ("markdown", "md")):
        assert f'href="/runs/{run.pk}/results/{tool}"' in page
        answer = signed_in.get(f"/runs/{run.pk}/results/{tool}")
        assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}.{suffix}"'
        assert answer.getvalue() == api.get(f"/runs/{run.pk}/results.{suffix}").getvalue()
    assert signed_in.get(f"/runs/{run.pk}/results/qperf").status_code == 404
    assert api.get("/runs/999999/results.md").status_code == 404
