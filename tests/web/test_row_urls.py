"""Addresses of rows' pages without matching patterns anew."""

import pytest
from django.template import Context, Template
from django.urls import NoReverseMatch, reverse, set_script_prefix

from benchweb.web.row_urls import row_url


@pytest.mark.parametrize(
    ("name", "ids"), [("web:run", (7,)), ("web:trial", (7, 12)), ("web:trial_document", (123, 1)), ("web:host", (1,))]
)
def test_an_address_is_the_one_that_django_gives(name: str, ids: tuple[int, ...]) -> None:
    assert row_url(name, *ids) == reverse(name, args=ids)


def test_below_another_root_the_addresses_have_it() -> None:
    row_url("web:run", 7)
    set_script_prefix("/bench/")
    try:
        assert row_url("web:run", 7) == "/bench/runs/7"
    finally:
        set_script_prefix("/")
    assert row_url("web:run", 7) == "/runs/7"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{% url 'web:run' 7 %}", "/runs/7"),
        ("{% url 'web:trial' run trial %}", "/runs/7/trials/12"),
        ("{% url 'web:run' run as there %}[{{ there }}]", "[/runs/7]"),
        ("{% url 'web:run' run_id=run %}", "/runs/7"),
        ("{% url name run %}", "/runs/7"),
        ("{% url 'web:nowhere' 7 as there %}[{{ there }}]", "[]"),
        ("{% url 'web:shared' token %}", "/s/a%20b"),
    ],
)
def test_the_tag_gives_what_djangos_gives(source: str, shown: str) -> None:
    values = {"run": 7, "trial": 12, "name": "web:run", "token": "a b"}
    assert Template(source).render(Context(values)) == shown


def test_an_address_that_nothing_has_is_an_error_on_the_page() -> None:
    with pytest.raises(NoReverseMatch):
        Template("{% url 'web:nowhere' 7 %}").render(Context())
