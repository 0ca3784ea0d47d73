"""Notes of before their room had a name of its own: an existing database keeps them."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from benchweb.annotations.models import Annotation
from tests.nights import NIGHT

BEFORE = [("regressions", "0001_initial"), ("annotations", None)]


@pytest.mark.django_db(transaction=True)
def test_a_note_of_an_older_database_is_still_there() -> None:
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate(BEFORE)
    old = MigrationExecutor(connection)
    state = old.loader.project_state([("regressions", "0001_initial")])
    pk = state.apps.get_model("regressions", "Annotation").objects.create(text="new switch", at=NIGHT).pk
    old.migrate(latest)
    note = Annotation.objects.get(pk=pk)
    assert (note.text, note.at) == ("new switch", NIGHT)
    note.text = "new switch, rack 7"
    note.save()
    assert Annotation.objects.create(text="another", at=NIGHT).pk == pk + 1
