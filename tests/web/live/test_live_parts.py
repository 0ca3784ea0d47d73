"""The part of a running run's page that is rendered once for all who watch it."""

import re
import threading

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.runs.models import Run, State
from benchweb.web.live import parts
from benchweb.web.live.parts import PartKey, shared_part
from tests.factories import make_run

HTMX = {"HX-Request": "true"}


def key(run_id: int, language: str) -> PartKey:
    """Return the key for readers who may do all with a run."""
    return PartKey(run_id, language, may_run_it=True, may_run=True)


class HeldClock:
    """A clock that goes on when it is told to; each look at it is counted."""

    def __init__(self) -> None:
        self.now = 100.0
        self.looks = threading.Semaphore(0)

    def monotonic(self) -> float:
        self.looks.release()
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HeldClock:
    held = HeldClock()
    monkeypatch.setattr(parts, "time", held)
    return held


def test_those_who_ask_together_get_one_rendering_and_another_language_its_own(clock: HeldClock) -> None:
    def render() -> str:
        # Until all have asked; they get it much later than they asked.
        assert all(clock.looks.acquire(timeout=60) for _ in range(len(askers) + 1))
        clock.now += 10 * parts.FRESH_SECONDS
        return "part 1"

    got: list[str] = []
    askers = [threading.Thread(target=lambda: got.append(shared_part(key(-1, "en"), render))) for _ in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert got == ["part 1"] * 20
    assert shared_part(key(-1, "zh-hans"), lambda: "part 2") == "part 2"


def test_whoever_asks_later_than_it_keeps_gets_a_new_rendering(clock: HeldClock) -> None:
    assert shared_part(key(-2, "en"), lambda: "old") == "old"
    clock.now += parts.FRESH_SECONDS
    assert shared_part(key(-2, "en"), lambda: "new") == "old"
    clock.now += 0.001
    assert shared_part(key(-2, "en"), lambda: "new") == "new"


def test_a_fault_is_nobodys_part() -> None:
    with pytest.raises(ZeroDivisionError):
        shared_part(key(-3, "en"), lambda: str(1 / 0))
    assert shared_part(key(-3, "en"), lambda: "well") == "well"


@pytest.mark.django_db
def test_the_shared_part_holds_no_token_and_each_readers_own_comes_with_the_page(django_user_model: type[User]) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    for name in ("ada", "grace"):
        reader = Client(enforce_csrf_checks=True)
        reader.force_login(django_user_model.objects.create_user(name))
        page = reader.get(f"/runs/{run.pk}").content.decode()
        part = reader.get(f"/runs/{run.pk}", headers=HTMX).content.decode()
        assert 'id="charts-fresh" hx-swap-oob="true" hidden>[' in part
        assert "csrf" not in part
        again = f"/runs/{run.pk}/again"
        assert f'hx-post="{again}"' in part
        assert reader.post(again, headers=HTMX).status_code == 403
        token, *_ = re.findall(r'hx-headers=\'{"X-CSRFToken": "([A-Za-z0-9]{64})"}\'', page)
        answer = reader.post(again, headers=HTMX | {"X-CSRFToken": token})
        assert re.fullmatch(r"/runs/\d+", answer.headers["HX-Redirect"])
        token, *_ = re.findall(r'name="csrfmiddlewaretoken" value="([A-Za-z0-9]{64})"', page)
        assert reader.post(again, {"csrfmiddlewaretoken": token}).status_code == 302
