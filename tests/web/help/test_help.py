"""Help: the documentation as pages, examples of the API, the glossary."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.services import token_create
from benchweb.ops.running.home import PROJECT
from benchweb.web.help.documents import FOLDER, contents, document
from tests.factories import make_plan


def test_every_listed_document_is_a_page_and_every_link_on_it_leads_on(signed_in: Client) -> None:
    names = [entry.name for _part, entries in contents() for entry in entries]
    assert {"start/first-steps", "how-to/install", "reference/overview", "engine", "api"} <= set(names)
    for name in names:
        page = signed_in.get(f"/help/docs/{name}").content.decode()
        assert page.count("<h1") == 1
        [article] = re.findall(r'<article class="document" lang="en">(.*?)</article>', page, re.DOTALL)
        assert "style=" not in article
        for address, anchor in re.findall(r'href="(/help/docs/[^"#]*)(?:#([^"]*))?"', article):
            target = signed_in.get(address)
            assert target.status_code == 200, f"{name}: {address}"
            assert not anchor or f'id="{anchor}"' in target.content.decode(), f"{name}: {address}#{anchor}"


def test_all_documentation_for_readers_is_listed() -> None:
    names = {entry.name for _part, entries in contents() for entry in entries}
    folders = ("start", "how-to", "reference")
    files = {path.relative_to(FOLDER).as_posix() for folder in folders for path in (FOLDER / folder).glob("*.md")}
    assert {name.removesuffix(".md") for name in files} - names == set()


@pytest.mark.parametrize("name", ["none", "../README", "decisions/0012-cron", "architecture", "how-to/../api", ""])
def test_what_is_no_document_is_not_found(signed_in: Client, name: str) -> None:
    assert document(name) is None
    assert signed_in.get(f"/help/docs/{name}").status_code == 404


def test_a_picture_is_sent_and_no_other_file(signed_in: Client) -> None:
    answer = signed_in.get("/help/docs/images/matrix-loss.png")
    assert b"".join(answer) == Path(FOLDER / "images" / "matrix-loss.png").read_bytes()
    assert signed_in.get("/help/docs/images/none.png").status_code == 404


def test_the_examples_have_the_sites_address_and_say_where_the_own_token_goes(signed_in: Client, ada: User) -> None:
    page = signed_in.get("/help/api").content.decode()
    assert "You have no API token yet" in page
    assert "http://testserver/api/v1/runs/1/results.csv" in page
    assert "{&quot;plan&quot;: 1, &quot;pair&quot;: 1}" in page
    token, secret = token_create(user=ada, name="nightly export")
    page = signed_in.get("/help/api").content.decode()
    assert f"export TOKEN={token.prefix}…" in page
    assert secret not in page


def test_every_word_with_a_line_in_the_glossary_leads_to_it(signed_in: Client) -> None:
    glossary = signed_in.get("/help/glossary").content.decode()
    lines = set(re.findall(r'<dt id="([^"]*)">', glossary))
    used = {
        key
        for path in (PROJECT / "benchweb" / "web").rglob("*.html")
        for key in re.findall(r'{% term "([^"]*)"', path.read_text(encoding="utf-8"))
    }
    assert used
    assert used <= lines
    plan = signed_in.get(f"/plans/{make_plan().pk}").content.decode()
    assert re.search(r'<a class="term" href="/help/glossary#step" title="A test kind [^"]*">Steps</a>', plan)
