"""The part of a running run's page that is rendered once for all who watch it."""

import re
import threading
import time

import pytest
from django.test import Client

from benchweb.runs.models import Run, State
from benchweb.web.live_parts import FRESH_SECONDS, shared_part
from tests.factories import make_run

HTMX = {"HX-Request": "true"}


def test_those_who_ask_together_get_one_rendering_and_another_language_its_own() -> None:
    rendered: list[str] = []

    def render() -> str:
        time.sleep(0.05)
        rendered.append("x")
        return f"part {len(rendered)}"

    got: list[str] = []
    askers = [threading.Thread(target=lambda: got.append(shared_part(-1, "en", render))) for _ in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert got == ["part 1"] * 20
    assert shared_part(-1, "zh-hans", render) == "part 2"


def test_whoever_asks_later_than_it_keeps_gets_a_new_rendering() -> None:
    assert shared_part(-2, "en", lambda: "old") == "old"
    time.sleep(FRESH_SECONDS + 0.05)
    assert shared_part(-2, "en", lambda: "new") == "new"


def test_a_fault_is_nobodys_part() -> None:
    with pytest.raises(ZeroDivisionError):
        shared_part(-3, "en", lambda: str(1 / 0))
    assert shared_part(-3, "en", lambda: "well") == "well"


@pytest.mark.django_db
def test_each_reader_gets_a_token_of_their_own_and_fresh_charts(django_user_model) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    tokens = []
    for name in ("ada", "grace"):
        reader = Client(enforce_csrf_checks=True)
        reader.force_login(django_user_model.objects.create_user(name))
        part = reader.get(f"/runs/{run.pk}", headers=HTMX).content.decode()
        assert 'id="charts-fresh" hx-swap-oob="true" hidden>[' in part
        tokens.append(re.search(r'name="csrfmiddlewaretoken" value="([A-Za-z0-9]{64})"', part)[1])
        # The token in the part is one that the reader's own form is accepted with.
        assert reader.post(f"/runs/{run.pk}/again", {"csrfmiddlewaretoken": tokens[-1]}).status_code == 302
    assert tokens[0] != tokens[1]
