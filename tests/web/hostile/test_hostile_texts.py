"""No text that anybody stored is markup anywhere: on pages, behind links, in pictures, files and mails."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.notifications.kinds.email.mail import mail_of
from benchweb.notifications.messages import message
from benchweb.notifications.models import Delivery
from benchweb.runs.models import Run
from tests.web.hostile.pages import Answer, Markup, every_answer
from tests.web.hostile.planted import WORDS, field_name, project_models, text_fields
from tests.web.hostile.scene import made_links, make_scene

pytestmark = pytest.mark.django_db
PARTS_OF_A_LINK = ("", "/embed", "/badge.svg", "/results.csv", "/results.json")

# Where tags make markup of what was escaped; the documentation's files are our own, and what a form answered is said
# again as it was.
MAKERS = re.compile(r"benchweb/web/(\w+/tags|tags/\w+|help/documents|access/once)\.py")


@pytest.fixture
def admin(db: None) -> Client:
    """Return a client of an admin's, in whose database every text is hostile."""
    user = User.objects.create_superuser("ada")
    make_scene(user)
    client = Client()
    client.force_login(user)
    return client


def test_no_page_takes_a_text_for_markup(admin: Client) -> None:
    found, telling = {}, set()
    for answer in every_answer(admin):
        # Probes are 503 here: no worker is there.
        assert answer.status != 500, answer.url
        if faults := answer.planted + answer.dead:
            found[answer.url] = faults
        if answer.status == 200 and answer.is_telling:
            telling.add(answer.view)
    assert found == {}
    # Only where the texts stand on the pages does this show anything.
    assert len(telling) > 100


def test_no_file_of_a_run_takes_a_text_for_markup(admin: Client) -> None:
    for run in Run.objects.order_by("-pk")[:4]:
        file = Answer.of(admin, f"/runs/{run.pk}/results/markdown")
        assert (file.kind, file.planted, file.is_telling) == ("text/markdown; charset=utf-8", [], True)


def test_no_link_takes_a_text_for_markup(admin: Client) -> None:
    links = made_links(admin)
    stranger = Client()
    answers = [Answer.of(stranger, link + part) for link in links for part in PARTS_OF_A_LINK]
    assert {answer.url: answer.planted for answer in answers if answer.planted} == {}
    assert sum(answer.is_telling for answer in answers) > len(links) > 4


def test_no_mail_takes_a_text_for_markup(admin: Client) -> None:
    delivery = Delivery.objects.latest("pk")
    html, kind = mail_of(message("1", delivery.payload), ["ann@example.org"]).alternatives[0]
    assert (kind, Markup(str(html)).planted, "&lt;s/onx" in str(html)) == ("text/html", [], True)


def test_every_field_that_is_left_out_is_there() -> None:
    assert {field_name(model, field) for model in project_models() for field in text_fields(model)} >= WORDS


def test_markup_is_made_by_tags_alone() -> None:
    root = Path(__file__).resolve().parents[3]
    sources = [*(root / "benchweb").rglob("*.py"), *(root / "workers").rglob("*.py")]
    makers = {
        str(path.relative_to(root)) for path in sources if re.search(r"\b(SafeString|mark_safe)\b", path.read_text())
    }
    assert {path for path in makers if not MAKERS.fullmatch(path)} == set()
    templates = [
        path for path in (root / "benchweb").rglob("templates/**/*") if path.suffix in (".html", ".svg", ".txt")
    ]
    assert len(templates) > 100
    raw = re.compile(r"\|\s*safe\b|safeseq|autoescape\s+off")
    assert [path.name for path in templates if raw.search(path.read_text())] == []
    scripts = [*(root / "frontend" / "src").rglob("*.ts")]
    raw = re.compile(r"\.(innerHTML|outerHTML)\b|insertAdjacentHTML|document\.write|createContextualFragment")
    assert [path.name for path in scripts if raw.search(path.read_text())] == []
