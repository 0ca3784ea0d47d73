"""CSV for spreadsheets: a byte order mark by choice, the same words in every language."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.services import token_create
from benchweb.runs.selectors import run_detail
from benchweb.sharing.services import share_create
from benchweb.web.middleware.csv_files import BYTE_ORDER_MARK
from tests.factories import ONE_TRIAL, make_pair, make_run

CHINESE = {"Accept-Language": "zh-Hans"}


@pytest.fixture
def addresses(db: None) -> list[str]:
    pair = make_pair()
    first, second = make_run(pair=pair), make_run(pair=pair, steps=[*ONE_TRIAL, *ONE_TRIAL], name="other")
    return [
        f"/runs/{first.pk}/results.csv",
        f"/compare/results.csv?runs={first.pk},{second.pk}",
        f"/history.csv?pair={pair.pk}",
        "/matrix.csv?",
    ]


def body(client: Client, address: str, **headers: str) -> bytes:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return answer.getvalue()


def test_every_csv_begins_with_the_mark_where_asked_for(signed_in: Client, addresses: list[str]) -> None:
    for address in addresses:
        plain = body(signed_in, address)
        more = "&" if "?" in address else "?"
        assert not plain.startswith(BYTE_ORDER_MARK)
        assert body(signed_in, f"{address}{more}bom=1") == BYTE_ORDER_MARK + plain
        assert body(signed_in, f"{address}{more}bom=0") == plain


def test_the_apis_csv_is_the_pages_with_the_mark_where_asked_for(client: Client, addresses: list[str]) -> None:
    _, token = token_create(user=User.objects.create_user("script"), name="script")
    headers = {"Authorization": f"Bearer {token}"}
    plain = body(client, f"/api/v1{addresses[0]}", **headers)
    assert not plain.startswith(BYTE_ORDER_MARK)
    assert body(client, f"/api/v1{addresses[0]}?bom=1", **headers, **CHINESE) == BYTE_ORDER_MARK + plain


def test_every_csv_is_the_same_in_every_language(signed_in: Client, addresses: list[str]) -> None:
    for address in addresses:
        assert body(signed_in, address, **CHINESE) == body(signed_in, address)


def test_pages_and_json_get_no_mark(signed_in: Client, addresses: list[str]) -> None:
    for address in ("/?bom=1", addresses[0].replace("results.csv", "results.json?bom=1")):
        assert not body(signed_in, address).startswith(BYTE_ORDER_MARK)


def test_a_shared_runs_csv_has_the_mark_too(client: Client, db: None) -> None:
    run = run_detail(make_run().pk)
    assert run is not None
    _, token = share_create(run=run, user=None)
    plain = body(client, f"/s/{token}/results.csv")
    assert body(client, f"/s/{token}/results.csv?bom=1") == BYTE_ORDER_MARK + plain


def test_the_pages_offer_the_file_for_excel(signed_in: Client, addresses: list[str]) -> None:
    run = addresses[0].removesuffix("/results.csv")
    assert f'href="{addresses[0]}?bom=1" download>CSV for Excel</a>' in signed_in.get(run).content.decode()
    compared = signed_in.get(addresses[1].replace("/results.csv", "")).content.decode()
    assert "bom=1" in compared
