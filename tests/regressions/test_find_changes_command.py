"""`manage.py find_changes`: what it reads, writes and refuses, and that it needs no database."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchweb.regressions.series_files import SeriesFileError, read_series

PROJECT = Path(__file__).resolve().parents[2]
STEP = [100.0, 101.0, 102.0] * 8 + [90.0, 91.0, 92.0] * 8


def run(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, float]]:
    call_command("find_changes", *words)
    found: list[dict[str, float]] = json.loads(capsys.readouterr().out)
    return found


def test_a_json_list_with_missing_values_gives_its_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "series.json"
    file.write_text(json.dumps([None, *STEP[:10], None, *STEP[10:]]))
    [found] = run(capsys, str(file))
    assert list(found) == [
        "index", "before", "after", "difference_ratio", "interval_low_ratio", "interval_high_ratio", "p",
    ]  # fmt: skip
    assert (found["index"], found["before"], found["after"]) == (26, 101, 91)
    assert found["difference_ratio"] == pytest.approx(-10 / 101)
    assert found["interval_low_ratio"] <= found["difference_ratio"] <= found["interval_high_ratio"]


@pytest.mark.parametrize("column", ["rate", "2"])
def test_a_csv_column_is_taken_by_its_name_or_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str
) -> None:
    file = tmp_path / "series.csv"
    file.write_text("at,rate\n" + "".join(f"2026-01-01,{value}\n" for value in STEP))
    [found] = run(capsys, str(file), "--column", column)
    assert (found["index"], found["before"]) == (24, 101)


def test_nothing_found_is_an_empty_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "series.json"
    file.write_text(json.dumps(STEP))
    assert run(capsys, str(file), "--floor", "0.2") == []


def test_it_reads_standard_input_on_a_machine_without_a_database() -> None:
    environment = {"PATH": os.environ["PATH"], "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    ended = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "find_changes", "-"],
        input=json.dumps(STEP), env={**environment, "BENCHWEB_SET_UP": "1"}, capture_output=True, text=True,
        cwd=PROJECT, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [each["index"] for each in json.loads(ended.stdout)] == [24]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--floor", "1.5"], "--floor is 1.5, but must be a share"),
        (["--floor", "nan"], "--floor is nan, but must be a share"),
        (["--window", "5"], "--window is 5, but must be from 12 to 1000"),
        (["--column", "1"], "--column is for CSV"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path: Path, words: list[str], message: str) -> None:
    file = tmp_path / "series.json"
    file.write_text("[1, 2]")
    with pytest.raises(CommandError, match=message):
        call_command("find_changes", str(file), *words)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match=r"/no/such\.json can't be read \(No such file or directory\)"):
        call_command("find_changes", "/no/such.json")


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (b"[1, null, 2.5, -3e2]", [1, None, 2.5, -300]),
        (b"[]", []),
        (b"\xef\xbb\xbf[1]\n", [1]),
        (b"1\n2\n\n4\n", [1, 2, None, 4]),
        (b"\n2\n", [None, 2]),
        (b"rate\n1\nNaN\nnull\n2\n", [1, None, None, 2]),
        (b"rate\r\n1\r\n2\r\n", [1, 2]),
    ],
)
def test_what_is_read(content: bytes, values: list[float | None]) -> None:
    assert read_series(content) == values


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        (b"", None, "The input is empty"),
        (b"\xff\xfe1", None, "Byte 1 is not UTF-8"),
        (b"[1, 2", None, r"Line 1, column 6 is not JSON"),
        (b'{"values": [1]}', None, "an object, not a list"),
        (b"[1, NaN]", None, "NaN is not a JSON number"),
        (b'[1, "2"]', None, "Item 1 of the list is not a finite number"),
        (b"[1, true]", None, "Item 1 of the list"),
        (b"[1, 1e999]", None, "Item 1 of the list"),
        (b"[" * 100_000, None, "nested too deeply|is not JSON"),
        (b"a,b\n1,2\n", None, "There are 2 columns: name one by --column, a, b or a number from 1 to 2"),
        (b"a,b\n1,2\n", "c", "There is no column 'c': --column takes a, b or a number"),
        (b"1,2\n", "3", "There is no column '3': --column takes a number from 1 to 2"),
        (b"a\n1\nfast\n", None, "Line 3, column 1: 'fast' is not a finite number"),
        (b"a\n1\ninf\n", None, "Line 3, column 1: 'inf' is not a finite number"),
    ],
)
def test_what_is_refused_says_where_and_what_to_do(content: bytes, column: str | None, message: str) -> None:
    with pytest.raises(SeriesFileError, match=message):
        read_series(content, column)
