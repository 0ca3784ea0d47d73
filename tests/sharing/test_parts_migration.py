"""Shares of before their exports were stored in parts: what they showed is shown still."""

from importlib import import_module

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from benchweb.sharing.models import SharePart

migration = import_module("benchweb.sharing.migrations.0003_parts")
BEFORE, AFTER = [("sharing", "0002_page_in_languages")], [("sharing", "0003_parts")]


@pytest.mark.django_db(transaction=True)
def test_exports_of_older_shares_are_divided_and_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "_PIECE", 7)
    old = MigrationExecutor(connection)
    old.migrate(BEFORE)
    share = old.loader.project_state(BEFORE).apps.get_model("sharing", "Share")
    texts = {"csv": "a,b\r\n1,ä\r\n" * 3, "document": '{"run": 1, "plan": "größe"}'}
    pk = share.objects.create(digest="d", token_encrypted=b"t", **texts).pk
    revoked = share.objects.create(digest="e", token_encrypted=b"t").pk
    MigrationExecutor(connection).migrate(AFTER)
    for export, text in (("csv", texts["csv"]), ("json", texts["document"])):
        parts = list(
            SharePart.objects.filter(share=pk, export=export).order_by("number").values_list("text", flat=True)
        )
        assert len(parts) > 1
        assert "".join(parts) == text
    assert not SharePart.objects.filter(share=revoked).exists()
