"""Addresses of rows' pages without matching patterns anew."""

import pytest
from django.urls import reverse, set_script_prefix

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
