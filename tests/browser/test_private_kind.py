"""A kind that ships in no file of pages, charts or migrations goes from form to chart."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from benchweb.runs.models import Run
from tests.browser import steps
from tests.conftest import ENGINE, ROOT
from tests.factories import make_user
from tests.processes import Engine

pytestmark = pytest.mark.needs("Rust")

OVERLAY = ROOT / "engine" / "schema" / "fixture" / "catalog.json"
FIXTURE_ENGINE = ENGINE.with_name("benchweb-engine-fixture")
KIND = "tcp_echo_probe"
PYTHON_AND_PAGES = ["benchweb", "workers", "frontend/src", "frontend/styles"]


@pytest.fixture(autouse=True)
def overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return the web and the worker, which start after this, the overlay of private kinds."""
    monkeypatch.setenv("BENCHWEB_CATALOG_OVERLAY", str(OVERLAY))


@pytest.fixture
def ada(overlay: None, transactional_db: None) -> User:
    """Make the user who logs in."""
    return make_user("ada", steps.PASSWORD)


def test_no_file_of_the_dashboard_names_the_private_kind() -> None:
    files = [file for folder in PYTHON_AND_PAGES for file in (ROOT / folder).rglob("*") if file.is_file()]
    texts = [file for file in files if file.suffix in {".py", ".html", ".ts", ".scss"}]
    assert len(texts) > 100
    assert [file for file in texts if KIND in file.read_text(encoding="utf-8")] == []


def test_a_private_kind_goes_from_form_to_chart(
    ada: User, page: Page, worker: Callable[[], object], engine: Callable[..., Engine]
) -> None:
    worker()
    steps.log_in(page)
    steps.add_host(page, "alder", engine("source", Path(FIXTURE_ENGINE)))
    steps.add_host(page, "birch", engine("sink", Path(FIXTURE_ENGINE)))
    steps.add_environment(page, "lab")
    steps.add_pair(page, "alder", "birch", "lab")

    page.goto("/plans/new")
    page.get_by_label("Name", exact=True).fill("probes")
    page.get_by_label("Repetitions", exact=True).fill("1")
    page.get_by_label("Test kind of step 1").select_option(KIND)
    page.get_by_label("Probes").fill("10, 100")
    expect(page.locator("#plan-preview .preview-figures")).to_contain_text("2")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_role("heading", level=1, name="probes")).to_be_visible()
    steps.launch(page, "probes", "alder (host) → birch (host)")

    expect(page.get_by_role("heading", name="Round trip by number of probes")).to_be_visible()
    assert all(pixels > 1_000 for pixels in steps.ink_of(page))
    trials = list(Run.objects.get().trials.order_by("index"))
    assert [trial.params["probe_count"] for trial in trials] == [10, 100]
    assert all(trial.result.metrics["probe_round_trip_seconds"] > 0 for trial in trials)
