"""Pseudonyms in texts: nothing that names a machine stays, and what is no name does."""

import re

import pytest

from benchweb.sharing.pseudonyms import Pseudonyms, tagged

HOST_A, HOST_B = tagged("host", "1"), tagged("host", "2")
NAMES = Pseudonyms({
    "alpha": HOST_A, "alpha.lab.example": HOST_A, "alpha-2": HOST_B, "Web server 7": HOST_B, "华北一号": HOST_B,
    "Straße": HOST_A, "işik": HOST_A,
})  # fmt: skip


def test_a_pseudonym_is_the_same_every_time_and_another_for_another_host():
    assert re.fullmatch(r"host-[a-z2-7]{5}", HOST_A)
    assert (tagged("host", "1"), HOST_A == HOST_B) == (HOST_A, False)


def test_a_pseudonym_depends_on_the_secret_key(settings):
    before = tagged("address", "192.0.2.1")
    settings.SECRET_KEY = "another-key-of-the-same-length-as-it-should-be"
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
def test_names_and_addresses_are_replaced(text, expected):
    assert NAMES.text(text) == filled(expected)


@pytest.mark.parametrize("text", ["at 12:34:56", "2026-11-21T02:32:19.67Z", "version 1.2.3.4.5", "std::string", "::"])
def test_what_is_no_address_stays(text):
    assert NAMES.text(text) == text


def test_a_boot_id_and_a_fingerprint_are_replaced():
    boot, fingerprint = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "sha256:" + "ab" * 32
    assert NAMES.text(f"{boot} {fingerprint}") == f"{tagged('id', boot)} {tagged('fingerprint', fingerprint)}"


def test_in_documents_texts_are_replaced_and_keys_and_numbers_stay():
    document = {"alpha": ["alpha", 1.5, None, {"x": "alpha"}]}
    assert NAMES.deep(document) == {"alpha": [HOST_A, 1.5, None, {"x": HOST_A}]}


def test_an_encoded_distribution_stays_as_it_is():
    distribution = {"unit": "ns", "encoding": "hdr-v2-deflate-base64", "data": "HI+alpha/eJx="}
    assert NAMES.deep({"loaded_histogram": distribution}) == {"loaded_histogram": distribution}


def test_a_letter_that_only_regular_expressions_take_for_another_is_hidden_too():
    assert re.fullmatch(r"host-[a-z2-7]{5} is away", Pseudonyms({"sink1": HOST_A}).text("ſink1 is away"))


@pytest.mark.parametrize("name", ["path", "tcp_stream", "throughput", "3", "7.5"])
def test_a_host_called_as_a_word_of_the_catalog_or_a_number_is_hidden_where_a_sentence_names_it(name):
    names = Pseudonyms({name: HOST_A})
    document = {"by": "path", "kind": "tcp_stream", "text": f"1 of 3 failed, throughput 7.5; host {name} is away"}
    expected = f"1 of 3 failed, throughput 7.5; host {HOST_A} is away"
    assert names.deep(document) == {"by": "path", "kind": "tcp_stream", "text": expected}
    assert (
        names.text(f"The engine of {name} (host) can't be reached") == f"The engine of {HOST_A} (host) can't be reached"
    )


def test_a_host_whose_name_is_a_word_of_every_report_spoils_no_sentence():
    names = Pseudonyms({"source": HOST_A, "Host": HOST_B})
    assert names.text("the source's host") == "the source's host"
