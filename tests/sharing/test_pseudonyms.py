"""Pseudonyms in texts: nothing that names a machine stays, and what is no name does."""

import re
import unicodedata
from typing import Literal

import pytest
from pytest_django import Settings

from benchweb.documents.hidden import tagged
from benchweb.sharing.pseudonyms import Pseudonyms

HOST_A, HOST_B = tagged("host", "1"), tagged("host", "2")
NAMES = Pseudonyms({
    "alpha": HOST_A, "alpha.lab.example": HOST_A, "alpha-2": HOST_B, "Web server 7": HOST_B, "华北一号": HOST_B,
    "Straße": HOST_A, "işik": HOST_A,
})  # fmt: skip


def test_a_pseudonym_is_the_same_every_time_and_another_for_another_host() -> None:
    assert re.fullmatch(r"host-[a-z2-7]{5}", HOST_A)
    assert (tagged("host", "1"), HOST_A == HOST_B) == (HOST_A, False)


def test_a_pseudonym_depends_on_the_secret_key(settings: Settings) -> None:
    before = tagged("address", "192.0.2.1")
    settings.SECRET_KEY = "another-key-of-the-same-length-as-it-should-be"  # pragma: allowlist secret
    assert tagged("address", "192.0.2.1") != before


def filled(expected: str) -> str:
    """Put pseudonyms in the places of <A>, <B> and such as <address 10.1.2.3>; they differ from session to session."""
    expected = expected.replace("<A>", HOST_A).replace("<B>", HOST_B)
    return re.sub(r"<(\w+) ([^>]+)>", lambda found: tagged(found[1], found[2]), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alpha is not reachable", "<A> is not reachable"),
        ("ALPHA:7410 refused", "<A>:7410 refused"),
        ("alpha-2 and alpha", "<B> and <A>"),
        ("no route to alpha.lab.example.", "no route to <A>."),
        ("alpha.corp.example.net answered", "<A> answered"),
        ("on Web server 7", "on <B>"),
        ("alphabet, betalpha", "alphabet, betalpha"),
        ("10.1.2.3:7410 refused", "<address 10.1.2.3>:7410 refused"),
        ("it was 10.1.2.3.", "it was <address 10.1.2.3>."),
        ("10.1.2.0/24", "<address 10.1.2.0>/24"),
        ("[2001:db8::7]:7410", "[<address 2001:db8::7>]:7410"),
        ("fe80::1%eth0 is down", "<address fe80::1> is down"),
        ("::ffff:10.1.2.3", "<address 10.1.2.3>"),
        ("52:54:00:ab:cd:ef", "<address 52:54:00:ab:cd:ef>"),
        ("http://user:word@db.internal:8080/x", "http://<host db.internal>:8080/x"),
        ("http://10.1.2.3/x", "http://<address 10.1.2.3>/x"),
        ("http://alpha:80/x", "http://<A>:80/x"),
        ("nightly_alpha_64", "nightly_<A>_64"),
        ("夜间alpha到华北一号的测试", "夜间<A>到<B>的测试"),
        ("STRAßE, alphaſ, IŞIK", "<A>, alphaſ, <A>"),
        ("enx525400abcdef is up", "<interface enx525400abcdef> is up"),
    ],
)
def test_names_and_addresses_are_replaced(text: str, expected: str) -> None:
    assert NAMES.text(text) == filled(expected)


@pytest.mark.parametrize("text", ["at 12:34:56", "2026-11-21T02:32:19.67Z", "version 1.2.3.4.5", "std::string", "::"])
def test_what_is_no_address_stays(text: str) -> None:
    assert NAMES.text(text) == text


def test_a_boot_id_and_a_fingerprint_are_replaced() -> None:
    boot, fingerprint = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "sha256:" + "ab" * 32
    assert NAMES.text(f"{boot} {fingerprint}") == f"{tagged('id', boot)} {tagged('fingerprint', fingerprint)}"


def test_in_documents_texts_are_replaced_and_keys_and_numbers_stay() -> None:
    document = {"alpha": ["alpha", 1.5, None, {"x": "alpha"}]}
    assert NAMES.deep(document) == {"alpha": [HOST_A, 1.5, None, {"x": HOST_A}]}


def test_an_encoded_distribution_stays_as_it_is() -> None:
    distribution = {"unit": "ns", "encoding": "hdr-v2-deflate-base64", "data": "HI+alpha/eJx="}
    assert NAMES.deep({"loaded_histogram": distribution}) == {"loaded_histogram": distribution}


def test_a_letter_that_only_regular_expressions_take_for_another_is_hidden_too() -> None:
    assert re.fullmatch(r"host-[a-z2-7]{5} is away", Pseudonyms({"sink1": HOST_A}).text("ſink1 is away"))


@pytest.mark.parametrize("name", ["path", "tcp_stream", "throughput", "3", "7.5"])
def test_a_host_called_as_a_word_of_the_catalog_or_a_number_is_hidden_where_a_sentence_names_it(name: str) -> None:
    names = Pseudonyms({name: HOST_A})
    document = {"by": "path", "kind": "tcp_stream", "text": f"1 of 3 failed, throughput 7.5; host {name} is away"}
    expected = f"1 of 3 failed, throughput 7.5; host {HOST_A} is away"
    assert names.deep(document) == {"by": "path", "kind": "tcp_stream", "text": expected}
    assert (
        names.text(f"The engine of {name} (host) can't be reached") == f"The engine of {HOST_A} (host) can't be reached"
    )


def test_a_host_whose_name_is_a_word_of_every_report_spoils_no_sentence() -> None:
    names = Pseudonyms({"source": HOST_A, "Host": HOST_B})
    assert names.text("the source's host") == "the source's host"


RING = "M\u00fcller-Ring"
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS = {
    "composed": RING,
    "decomposed": unicodedata.normalize("NFD", RING),
    "capitals": RING.upper(),
    "small and decomposed": unicodedata.normalize("NFD", RING.lower()),
    "full width": "\uff2du\u0308\uff4c\uff4c\uff45\uff52\uff0d\uff32\uff49\uff4e\uff47",
    "zero width": "M\u00fc\u200blle\u200dr-\u2060R\u00ading\ufeff",
    "accent after a joiner": "Mu\u034f\u0308ller-Ring",
    "Cyrillic": "\u041c\u00fcll\u0435r-R\u0456ng",
    "Greek": "\u039c\u00fcller-R\u03b9ng",
    "mathematical": "\U0001d40c\u00fcller-Ring",
    "dash": "M\u00fcller\u2011Ring",
    "percent-encoded": "M%C3%BCller-Ring",
    "percent-encoded and decomposed": "Mu%cc%88ller%2DRing",
    "percent-encoded twice": "M%25C3%25BCller-Ring",
    "Latin-1": "M%FCller-Ring",
    "named entity": "M&uuml;ller-Ring",
    "numbered entity": "M&#252;ller-Ring",
    "numbered entity of base 16": "M&#xFC;ller&#x2d;Ring",
    "JSON": "M\\u00fcller-Ring",
    "JSON, decomposed": "Mu\\u0308ller-Ring",
    "JSON in a page": "M&#92;u00fcller-Ring",
    "backslash x": "M\\xfcller-Ring",
    "name service": "xn--mller-ring-9db",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("known", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_name_is_found_in_whatever_form_a_text_or_the_dashboard_has_it(
    form: str, known: Literal["NFC", "NFD", "NFKC", "NFKD"]
) -> None:
    names = Pseudonyms({unicodedata.normalize(known, RING): HOST_A})
    assert (
        names.text(f"Ärger: host {form} (\u00fc) is away").replace("\ufeff", "") == f"Ärger: host {HOST_A} (ü) is away"
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Straße", "STRASSE, strasse, STRAẞE", "<A>, <A>, <A>"),
        ("STRASSE", "an der Straße", "an der <A>"),
        ("İzmir", "izmir, IZMIR, İZMİR, ızmır, i\u0307zmir", "<A>, <A>, <A>, <A>, <A>"),
        ("DIYAR", "dıyar", "<A>"),
        ("ΝΗΣΟΣ", "νησος, νησοσ, Νησος", "<A>, <A>, <A>"),
        ("\u0430lpha", "alpha, ALPHA, alphabet", "<A>, <A>, alphabet"),
        ("сервер", "СЕРВЕР, сервера", "<A>, <A>а"),
        ("ﬁbre", "fibre, FIBRE", "<A>, <A>"),
        ("Web server 7", "Web%20server%207, Web+server+7, Web\u00a0server\u20097", "<A>, <A>, <A>"),
        ("한국", unicodedata.normalize("NFD", "한국"), "<A>"),
        ("하", "한", "한"),
        ("mu", "Mu\u0308 and mu", "Mu\u0308 and <A>"),
        ("müller", "muller", "muller"),
        ("nas1", r"\\files\nas1 and a\nnas1", r"\\files\<A> and a\n<A>"),
        ("quartz", "to\\u0020quartz\\u0020now, quartz%2Elab%2Eexample", "to\\u0020<A>\\u0020now, <A>"),
        ("müller.example", "xn--mller-kva.example", "<A>"),
        ("xn--mller-kva.example", "MÜLLER.example", "<A>"),
        (
            "straße.example",
            "xn--strae-oqa.example, strasse.example, http://xn--strae-oqa.example:80",
            "<A>, <A>, http://<A>:80",
        ),
        ("xn--strae-oqa.example", "straße.example, STRASSE.example", "<A>, <A>"),
        ("βόλος", "xn--nxasmm1c, xn--nxasmq6b, ΒΌΛΟΣ", "<A>, <A>, <A>"),
        ("\U0001f600box", "\\ud83d\\ude00box, \\U0001F600box, %F0%9F%98%80box, &#128512;box", "<A>, <A>, <A>, <A>"),
        ('a"b', r"host a\"b, a&quot;b", "host <A>, <A>"),
        ("\u0455ource", "the source, \u0455ource, host source", "the source, <A>, host <A>"),
    ],
)
def test_a_name_of_another_script_is_found_and_no_other_word(name: str, text: str, expected: str) -> None:
    assert Pseudonyms({name: HOST_A}).text(text) == filled(expected)


@pytest.mark.parametrize("text", ["100 % of 5 %C3 & Ü &uuml; \\u00fc \u200b Жуков", "C:\\new\\table ２ ½ ﬁ İ ß"])
def test_what_names_nothing_stays_as_it_was_written(text: str) -> None:
    assert NAMES.text(text) == text


def test_the_longest_name_goes_first_whatever_its_letters() -> None:
    names = Pseudonyms({"华北": HOST_A, "华北-a": HOST_B, "Mü": HOST_A, "Mü-2": HOST_B})
    assert names.text("华北-a, 华北, Mu\u0308-2, MÜ") == filled("<B>, <A>, <B>, <A>")


def test_of_two_names_that_look_alike_each_is_its_own() -> None:
    names = Pseudonyms({"alpha": HOST_A, "\u0430lpha": HOST_B})
    assert names.text("alpha, \u0430lpha, %D0%B0lpha") == filled("<A>, <B>, <B>")
    assert Pseudonyms({"\u0430lpha": HOST_B, "alpha": HOST_A}).text("ALPHA, \u0410LPHA") == filled("<A>, <B>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.1.\u200b2.3", "<address 10.1.2.3>"),
        ("１０.1.2.3", "<address 10.1.2.3>"),
        ("2001%3Adb8%3A%3A7 &", "<address 2001:db8::7> &"),
        ("52%3A54%3A00%3Aab%3Acd%3Aef", "<address 52:54:00:ab:cd:ef>"),
        ("http%3A%2F%2Fdb.internal%2Fx", "http://<host db.internal>%2Fx"),
        ("http://db.internal/%20x", "http://<host db.internal>/%20x"),
    ],
)
def test_addresses_are_found_in_other_forms_too(text: str, expected: str) -> None:
    assert NAMES.text(text) == filled(expected)
