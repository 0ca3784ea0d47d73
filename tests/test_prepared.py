"""Statements sent below psycopg's cursors: transactions, faults and what psycopg throws away are theirs too."""

import pytest
from django.db import DataError, NotSupportedError, OperationalError, ProgrammingError, connection, transaction

from benchweb.rows import Reading, planned_once, planned_rows, read_together

_NAMES = "SELECT name, statement FROM pg_prepared_statements"


def one(statement: str, **values: object) -> object:
    ((value,),) = planned_rows(statement, values)
    return value


@pytest.mark.django_db
def test_values_go_where_their_names_are_as_often_as_they_are_there() -> None:
    statement = "SELECT %(b)s::int - %(a)s::int, %(a)s::int %% 3, '100 %%', %(none)s::text, %(none)s::text IS NULL"
    for a, b in ((4, 10), (5, 20)):
        assert planned_rows(statement, {"a": a, "b": b, "none": None}) == [(b - a, a % 3, "100 %", None, True)]


@pytest.mark.django_db
def test_a_value_that_is_missing_is_a_fault_of_ours_that_leaves_the_connection_as_it_was() -> None:
    for _ in range(2):
        with pytest.raises(KeyError, match="missing"):
            read_together(Reading("SELECT 1", {}, list), Reading("SELECT %(missing)s", {}, list))
    assert one("SELECT 2") == 2


@pytest.mark.django_db
def test_the_same_statement_twice_in_one_visit_is_prepared_once() -> None:
    asked = [Reading("SELECT %(n)s::int + 1000", {"n": n}, lambda rows: rows[0][0]) for n in (1, 2)]
    assert read_together(*asked) == (1001, 1002)
    assert [text for _name, text in planned_rows(_NAMES, {}) if "+ 1000" in text] == ["SELECT $1::int + 1000"]


@pytest.mark.django_db(transaction=True)
def test_the_first_statement_of_a_transaction_begins_it() -> None:
    with transaction.atomic():
        first = one("SELECT pg_current_xact_id()::text")
        assert one("SELECT pg_current_xact_id()::text") == first
    assert one("SELECT pg_current_xact_id()::text") != first


@pytest.mark.django_db(transaction=True)
def test_what_is_prepared_is_prepared_anew_where_a_rollback_threw_it_away() -> None:
    # psycopg forgets all that it has prepared when a transaction is rolled back.
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            with planned_once(), connection.cursor() as cursor:
                cursor.execute("SELECT 5")
            assert one("SELECT 6") == 6
            raise ZeroDivisionError
        assert (one("SELECT 6"), one("SELECT 7")) == (6, 7)


@pytest.mark.django_db(transaction=True)
def test_after_a_statement_that_failed_the_others_work_and_so_does_itself_once_it_can() -> None:
    good = Reading("SELECT 1", {}, lambda rows: rows[0][0])
    bad = Reading("SELECT n FROM to_be_made", {}, lambda rows: rows)
    for _ in range(2):
        with pytest.raises(ProgrammingError, match="to_be_made"):
            read_together(good, bad, good)
        assert read_together(good, good) == (1, 1)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE to_be_made AS SELECT 8 AS n")
    assert read_together(good, bad, good) == (1, [(8,)], 1)
    # Prepared already, and failing for its values only.
    for divisor, found in ((2, 3), (0, None), (3, 2)):
        if found is None:
            with pytest.raises(Exception, match="division by zero"):
                one("SELECT 6 / %(by)s::int", by=divisor)
        else:
            assert one("SELECT 6 / %(by)s::int", by=divisor) == found


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_broke_is_said_and_the_next_one_is_whole() -> None:
    assert one("SELECT 9") == 9
    process = one("SELECT pg_backend_pid()")
    with pytest.raises(OperationalError):
        one("SELECT pg_terminate_backend(%(process)s::int)", process=process)
    connection.close_if_unusable_or_obsolete()
    assert one("SELECT 9") == 9
    assert one("SELECT pg_backend_pid()") != process


@pytest.mark.django_db
def test_a_connection_keeps_no_more_statements_than_psycopg_does() -> None:
    for number in range(150):
        assert one(f"SELECT {number}::int") == number
    assert len(planned_rows(_NAMES, {})) <= 101
    assert one("SELECT 0::int") == 0


@pytest.mark.django_db(transaction=True)
def test_rows_that_cannot_be_loaded_are_said_and_leave_the_connection_whole() -> None:
    process = one("SELECT pg_backend_pid()")
    endless = Reading("SELECT 'infinity'::timestamptz", {}, list)
    for _ in range(2):
        with pytest.raises(DataError, match="timestamp too large"):
            read_together(endless, Reading("SELECT 1", {}, list))
        assert (one("SELECT 2"), one("SELECT pg_backend_pid()")) == (2, process)


@pytest.mark.django_db(transaction=True)
def test_what_is_interrupted_while_answers_come_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    process = one("SELECT pg_backend_pid()")

    def interrupted(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(connection.connection._prepared, "validate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        one("SELECT 10 + 1")
    assert connection.connection.closed
    connection.close()
    assert one("SELECT pg_backend_pid()") != process


@pytest.mark.django_db(transaction=True)
def test_statements_that_are_gone_or_whose_tables_have_changed_are_prepared_anew() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE changed AS SELECT 8 AS n")
    assert one("SELECT n FROM changed") == 8
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE changed ALTER n TYPE text")
    with pytest.raises(NotSupportedError, match="cached plan must not change result type"):
        one("SELECT n FROM changed")
    assert [one("SELECT n FROM changed") for _ in range(3)] == ["8", "8", "8"]
    assert one("SELECT 2 + 1") == 3
    with connection.cursor() as cursor:
        cursor.execute("DISCARD ALL")
    with pytest.raises(ProgrammingError, match="does not exist"):
        one("SELECT 2 + 1")
    assert [one("SELECT 2 + 1") for _ in range(3)] == [3, 3, 3]


@pytest.mark.django_db
def test_a_connection_keeps_no_rows() -> None:
    assert one("SELECT repeat('x', 1000)") == "x" * 1000
    loaders = connection.connection.__dict__["benchweb_loaders"]
    assert loaders
    assert all(loader.pgresult is None for loader in loaders.values())


@pytest.mark.django_db
def test_a_stray_per_cent_sign_is_refused_as_everywhere() -> None:
    for statement in ("SELECT 'a' LIKE 'a%'", "SELECT %(n)b", "SELECT %s"):
        with pytest.raises(ProgrammingError, match="which is neither"):
            planned_rows(statement, {"n": 1})
    assert one("SELECT 'a' LIKE 'a%%'") is True
