"""English and Simplified Chinese: the switch, the browser's wish, and what stays English."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.ops import po_files
from tests.factories import make_plan

CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}


def test_without_a_choice_a_page_speaks_the_browsers_language(ada: User) -> None:
    chinese = Client().get("/login", headers=CHINESE)
    assert chinese["Content-Language"] == "zh-hans"
    assert '<html lang="zh-hans">' in chinese.content.decode()
    assert '<button class="btn btn-primary" type="submit">登录</button>' in chinese.content.decode()
    assert '<html lang="en">' in Client().get("/login", headers={"Accept-Language": "de"}).content.decode()


def test_the_switch_keeps_the_page_and_goes_before_the_browsers_language(signed_in: Client) -> None:
    shown = "http://testserver/runs?state=failed"
    answer = signed_in.post("/language", {"language": "zh-hans"}, headers={"Referer": shown})
    assert (answer.status_code, answer["Location"]) == (302, shown)
    page = signed_in.get("/runs?state=failed", headers={"Accept-Language": "en"}).content.decode()
    assert '<a href="/runs" data-key="r" aria-current="page">运行</a>' in page
    assert 'value="en" lang="en"' in page
    signed_in.post("/language", {"language": "en"}, headers={"Referer": shown})
    assert '<html lang="en">' in signed_in.get("/runs", headers=CHINESE).content.decode()


def test_the_switch_leads_to_no_other_site(signed_in: Client) -> None:
    answer = signed_in.post("/language", {"language": "en", "next": "https://elsewhere.example/"})
    assert answer["Location"] == "/"


def test_a_language_that_is_not_there_is_not_chosen(signed_in: Client) -> None:
    signed_in.post("/language", {"language": "de"})
    assert '<html lang="en">' in signed_in.get("/runs").content.decode()


@pytest.mark.parametrize("path", ["/api/v1/hosts", "/healthz"])
def test_what_programs_read_is_english_whoever_asks(db: None, path: str) -> None:
    answers = [Client().get(path, headers=headers) for headers in (CHINESE, {})]
    # Its figures, such as how long ago something was seen, may differ between the two.
    texts = [re.sub(rb"[0-9.]+", b"0", answer.content) for answer in answers]
    assert texts[0] == texts[1]
    assert "Content-Language" not in answers[0]
    assert "Accept-Language" not in answers[0].get("Vary", "")


def test_a_translations_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    entries = [
        po_files.Entry("", "Language: zh_Hans\nPlural-Forms: nplurals=1; plural=0;\n"),
        po_files.Entry('A "quoted" text,\nof two lines', "译文\n第二行", references=["a.py", "b.html"]),
        po_files.Entry("run", "次运行", plural="runs", context="count"),
        po_files.Entry("guess", "猜", fuzzy=True),
        po_files.Entry("a long text " * 40, "长" * 300),
    ]
    po_files.write(tmp_path / "django.po", entries)
    assert po_files.read(tmp_path / "django.po") == entries


def test_gettext_loads_what_was_compiled_and_no_guess(tmp_path: Path) -> None:
    import gettext

    folder = tmp_path / "zh" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    entries = [po_files.Entry("", "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=1; plural=0;\n")]
    entries += [po_files.Entry("Hosts", "主机"), po_files.Entry("guess", "猜", fuzzy=True)]
    entries += [po_files.Entry("%d run", "%d 次运行", plural="%d runs"), po_files.Entry("May", "五月", context="month")]
    (folder / "django.mo").write_bytes(po_files.compiled(entries))
    chinese = gettext.translation("django", tmp_path, ["zh"])
    assert chinese.gettext("Hosts") == "主机"
    assert chinese.gettext("guess") == "guess"
    assert [chinese.ngettext("%d run", "%d runs", count) % count for count in (1, 2)] == ["1 次运行", "2 次运行"]
    assert (chinese.pgettext("month", "May"), chinese.gettext("May")) == ("五月", "May")


def test_parts_of_a_chinese_sentence_are_joined_by_its_own_punctuation_and_values_that_are_words_are_said(
    signed_in: Client,
) -> None:
    steps = [{"kind": "tcp_stream", "params": {"direction": ["forward", "reverse"]}}]
    plan = make_plan(steps=steps)
    chinese = {"Accept-Language": "zh-CN"}
    shown = signed_in.get(f"/plans/{plan.pk}", headers=chinese).content.decode()
    assert "次，" in shown
    assert "次, " not in shown
    assert "正向,\xa0反向" in shown
    editor = signed_in.get("/plans/new", headers=chinese).content.decode()
    assert all(word in editor for word in ("正向", "反向", "双向"))
    assert 'value="bidirectional"' in editor
