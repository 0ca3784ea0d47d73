"""A report's way: made by its form or by REST, read, changed, exported, shared frozen, archived."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.reports.models import Report
from benchweb.runs.models import Run
from tests.api.conftest import ApiClient
from tests.factories import make_pair, make_run
from tests.imports.conftest import api, signed_in, user  # noqa: F401
from tests.reports.scene import finished_run, imported_run, make_report
from tests.sharing.test_shared_views import link as link_to

pytestmark = pytest.mark.django_db


def form(**changes: str) -> dict[str, str]:
    values = {"title": "Sizes", "template": "sizes", "statistic": "mean", "conclusion": "As expected.\n\nSecond."}
    return values | changes


def test_a_report_is_made_by_its_form_and_shows_words_and_tables(
    signed_in: Client,  # noqa: F811
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    run = imported_run("netperf_sizes.md")
    page = signed_in.get(f"/reports/new?runs={run.pk}").content.decode()
    assert f'value="{run.pk}"' in page
    made = signed_in.post("/reports/new", form(runs=f"{run.pk}"))
    report = Report.objects.get()
    assert made["Location"] == f"/reports/{report.pk}"
    with django_assert_max_num_queries(12):
        page = signed_in.get(f"/reports/{report.pk}").content.decode()
    assert "<p>As expected.</p>" in page
    assert "Recv Socket Size bytes" in page
    assert "880003" in page
    assert "charts-data" in page
    assert "Sizes" in signed_in.get("/reports").content.decode()


def test_a_table_in_its_authors_words_is_one_and_nothing_there_is_markup(signed_in: Client) -> None:  # noqa: F811
    words = "Before <b>.\n\n| link | rate |\n|---|---:|\n| a \\| b | <i>9.4</i> |\n| short |\n\nAfter | it.\n"
    report = make_report(imported_run("netperf_sizes.md"), conclusion=words)
    page = signed_in.get(f"/reports/{report.pk}").content.decode()
    table = '<tr><td class="">a | b</td><td class="num">&lt;i&gt;9.4&lt;/i&gt;</td></tr><tr><td class="">short</td>'
    assert '<th scope="col" class="">link</th><th scope="col" class="num">rate</th>' in page
    assert table in page
    assert "<p>Before &lt;b&gt;.</p>" in page
    assert "<p>After | it.</p>" in page
    # What goes out is the author's text as it was typed.
    assert "| link | rate |" in b"".join(signed_in.get(f"/reports/{report.pk}/report.md")).decode()


def test_a_choice_of_settings_and_what_remains_are_kept_by_the_form_and_told_by_rest(
    signed_in: Client,  # noqa: F811
    api: ApiClient,  # noqa: F811
) -> None:
    run = finished_run(make_pair(), [{"kind": "tcp_stream", "params": {}}], {"throughput_bps": 9e9})
    chosen = {"chosen_settings": "tcp_stream\n\ntcp_stream message_size_bytes=64", "remaining": f"{run.pk}: 1 Gbit/s"}
    signed_in.post("/reports/new", form(runs=f"{run.pk}", template="wan", **chosen))
    report = Report.objects.get()
    assert report.chosen_settings == ["tcp_stream", "tcp_stream message_size_bytes=64"]
    assert "tcp_stream message_size_bytes=64" in signed_in.get(f"/reports/{report.pk}/edit").content.decode()
    told = api.get(f"/reports/{report.pk}").json()
    assert (told["chosen_settings"], told["remaining"]) == (report.chosen_settings, f"{run.pk}: 1 Gbit/s")
    refused = signed_in.post("/reports/new", form(runs=f"{run.pk}", remaining="lots"))
    assert "is no line such as" in refused.content.decode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"runs": "x"}, "is no number of a run"),
        ({"runs": "999999"}, "There is no run 999999"),
        ({"runs": "1-90"}, "Choose 1 to 40 runs"),
        ({"title": "", "runs": "1"}, "Title is required"),
    ],
)
def test_what_cant_be_made_is_said_at_its_field(signed_in: Client, change: dict[str, str], words: str) -> None:  # noqa: F811
    refused = signed_in.post("/reports/new", form() | change)
    assert words in refused.content.decode()
    assert not Report.objects.exists()


def test_a_run_that_goes_on_is_refused(api: ApiClient) -> None:  # noqa: F811
    body = {"title": "Early", "template": "sizes", "runs": [make_run().pk]}
    refused = api.post("/reports", body)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "runs")
    assert "not completed yet" in refused.json()["detail"]


def test_rest_lists_shows_and_exports(api: ApiClient, signed_in: Client) -> None:  # noqa: F811
    run = imported_run("netperf_sizes.md")
    body = {
        "title": "Sizes | all",
        "template": "sizes",
        "runs": [run.pk],
        "method": "netperf, 60 s",
        "statistic": "median",
    }
    made = api.post("/reports", body)
    assert made.status_code == 201
    [listed] = api.get("/reports").json()["items"]
    assert (listed["id"], listed["title"]) == (made.json()["id"], "Sizes | all")
    shown = api.get(f"/reports/{listed['id']}").json()
    assert shown["runs"] == [run.pk]
    assert [section["key"] for section in shown["sections"]] == ["method", "results"]
    assert shown["sections"][1]["tables"][0]["rows"][0] == ["131072", "16384", "1", "60.00", "0.31"]
    text = api.get(f"/reports/{listed['id']}/report.md").getvalue().decode()
    assert text.startswith("# Sizes \\| all\n")
    assert "\n| 131072 | 16384 | 1 | 60.00 | 0.31 |\n" in text
    assert "\nnetperf, 60 s\n" in text
    assert signed_in.get(f"/reports/{listed['id']}/report.md").getvalue().decode() == text


def test_a_shared_report_stays_as_it_was_shared(signed_in: Client) -> None:  # noqa: F811
    run = imported_run("netperf_sizes.md")
    report = make_report(run)
    path = f"/reports/{report.pk}"
    link = link_to(signed_in, path)
    signed_in.post(f"{path}/edit", form(runs=f"{run.pk}", title="Changed", conclusion="Otherwise."))
    assert "Otherwise." in signed_in.get(path).content.decode()
    stranger = Client().get(link).content.decode()
    assert "RISC-V in QEMU" in stranger
    assert "As expected." in stranger
    assert "880003" in stranger
    assert "Changed" not in stranger


def test_pseudonyms_hide_hosts_in_a_shared_report(signed_in: Client) -> None:  # noqa: F811
    run = imported_run("netperf_sizes.md")
    host = run.pair.source.host.name
    report = make_report(run)
    stranger = Client().get(link_to(signed_in, f"/reports/{report.pk}", anonymise="on")).content.decode()
    assert "880003" in stranger
    assert host not in stranger


def test_several_runs_are_drawn_over_each_other(signed_in: Client) -> None:  # noqa: F811
    pair = make_pair()
    imported = imported_run("netperf_sizes.md", pair)
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024]}}]
    own = finished_run(pair, [*steps], *([{"throughput_bps": 1e9}, {"throughput_bps": 2e9}]))
    report = make_report(imported, own)
    page = signed_in.get(f"/reports/{report.pk}").content.decode()
    assert f"run-{imported.pk}/" in page
    assert f"run-{own.pk}/" in page


def test_an_archived_report_leaves_the_list_and_comes_back(signed_in: Client) -> None:  # noqa: F811
    report = make_report(imported_run("netperf_sizes.md"))
    signed_in.post(f"/reports/{report.pk}/archive")
    assert report.title not in signed_in.get("/reports").content.decode().split('id="list"')[1]
    assert report.title in signed_in.get("/reports?archived=1").content.decode()
    assert signed_in.get(f"/reports/{report.pk}").status_code == 200
    signed_in.post(f"/reports/{report.pk}/restore")
    assert report.title in signed_in.get("/reports").content.decode()
    assert Run.objects.count() == 1
