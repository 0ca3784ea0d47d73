"""English and Simplified Chinese: the switch, the browser's wish, and what stays English."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.ops import translations
from benchweb.ops.extraction import Text, merge
from tests.factories import make_plan

CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}


def test_without_a_choice_a_page_speaks_the_browsers_language(ada: User) -> None:
    chinese = Client().get("/login", headers=CHINESE)
    assert chinese["Content-Language"] == "zh-hans"
    assert '<html lang="zh-hans"' in chinese.content.decode()
    assert '<button class="btn btn-primary" type="submit">登录</button>' in chinese.content.decode()
    assert '<html lang="en"' in Client().get("/login", headers={"Accept-Language": "de"}).content.decode()


def test_the_switch_keeps_the_page_and_goes_before_the_browsers_language(signed_in: Client) -> None:
    shown = "http://testserver/runs?state=failed"
    answer = signed_in.post("/language", {"language": "zh-hans"}, headers={"Referer": shown})
    assert (answer.status_code, answer["Location"]) == (302, shown)
    page = signed_in.get("/runs?state=failed", headers={"Accept-Language": "en"}).content.decode()
    assert '<a href="/runs" data-key="r" aria-current="page">运行</a>' in page
    assert 'value="en" lang="en"' in page
    signed_in.post("/language", {"language": "en"}, headers={"Referer": shown})
    assert '<html lang="en"' in signed_in.get("/runs", headers=CHINESE).content.decode()


def test_the_switch_leads_to_no_other_site(signed_in: Client) -> None:
    answer = signed_in.post("/language", {"language": "en", "next": "https://elsewhere.example/"})
    assert answer["Location"] == "/"


def test_a_language_that_is_not_there_is_not_chosen(signed_in: Client) -> None:
    signed_in.post("/language", {"language": "de"})
    assert '<html lang="en"' in signed_in.get("/runs").content.decode()


@pytest.mark.parametrize("path", ["/api/v1/hosts", "/healthz"])
def test_what_programs_read_is_english_whoever_asks(db: None, path: str) -> None:
    answers = [Client().get(path, headers=headers) for headers in (CHINESE, {})]
    # Its figures, such as how long ago something was seen, may differ between the two.
    texts = [re.sub(rb"[0-9.]+", b"0", answer.content) for answer in answers]
    assert texts[0] == texts[1]
    assert "Content-Language" not in answers[0]
    assert "Accept-Language" not in answers[0].get("Vary", "")


PO = """msgid ""
msgstr ""
"Language: zh_Hans\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

#: a.py
#: b.html
msgid ""
"A \\"quoted\\" text,\\n"
"of two lines"
msgstr ""
"译文\\n"
"第二行"

msgctxt "month"
msgid "May"
msgstr "五月"

msgid "%d run"
msgid_plural "%d runs"
msgstr[0] "%d 次运行"

#, fuzzy
msgid "guess"
msgstr "猜"
"""


def test_a_translations_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "django.po"
    path.write_text(PO, encoding="utf-8")
    translations.write(path, translations.read(path))
    assert path.read_text(encoding="utf-8") == PO


def test_gettext_loads_what_was_compiled_and_no_guess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gettext

    source = tmp_path / "zh" / translations.SOURCE
    source.parent.mkdir(parents=True)
    source.write_text(PO, encoding="utf-8")
    monkeypatch.setattr(translations, "LOCALE", tmp_path)
    translations.compile_translations(tmp_path)
    chinese = gettext.translation("django", tmp_path, ["zh"])
    assert chinese.gettext('A "quoted" text,\nof two lines') == "译文\n第二行"
    assert chinese.gettext("guess") == "guess"
    assert [chinese.ngettext("%d run", "%d runs", count) % count for count in (1, 2)] == ["1 次运行", "2 次运行"]
    assert (chinese.pgettext("month", "May"), chinese.gettext("May")) == ("五月", "May")


def test_texts_in_use_are_merged_with_their_translations_and_gone_ones_dropped(tmp_path: Path) -> None:
    path = tmp_path / "django.po"
    path.write_text(PO, encoding="utf-8")
    found = translations.read(path)
    used = {Text("May", context="month"): {"c.py"}, Text("%d run", "%d runs"): {"c.py"}, Text("new"): {"d.py", "c.py"}}
    merge(found, used)
    translations.write(path, found)
    head = PO.partition("\n\n")[0]
    plural = '#: c.py\nmsgid "%d run"\nmsgid_plural "%d runs"\nmsgstr[0] "%d 次运行"'
    month, new = '#: c.py\nmsgctxt "month"\nmsgid "May"\nmsgstr "五月"', '#: c.py\n#: d.py\nmsgid "new"\nmsgstr ""'
    assert path.read_text(encoding="utf-8") == "\n\n".join([head, plural, month, new]) + "\n"


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
