"""`manage.py test`: what a part says is told, and what it could not judge is neither hidden nor taken for passed."""

import tomllib
from pathlib import Path

import pytest

from benchweb.ops.running.home import PROJECT
from benchweb.ops.setup import testing
from benchweb.ops.setup.steps import ENGINE
from benchweb.ops.setup.testing import Part


def test_what_a_part_could_not_judge_is_given_by_name() -> None:
    words = "echo 'test a ... NOT JUDGED: b: the machine stood still'; echo 'test c ... ok'"
    passed, _, not_judged = testing.part_result(Part("figures", ["sh", "-c", words]))
    assert passed
    assert not_judged == ["NOT JUDGED: b: the machine stood still"]


def test_of_a_part_that_fails_all_is_told_but_the_tests_that_passed(capsys: pytest.CaptureFixture[str]) -> None:
    passed, _, _ = testing.part_result(
        Part("figures", ["sh", "-c", "echo 'test a ... ok'; echo 'test b ... FAILED'; exit 1"])
    )
    told = capsys.readouterr().out
    assert not passed
    assert "test b ... FAILED" in told
    assert "test a" not in told


def test_the_lanes_of_a_stage_go_beside_each_other_and_stages_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Put back afterwards: the run that this test is part of has its own.
    monkeypatch.setenv(testing.NOT_RUN_FILE, "")
    ended = tmp_path / "ended"
    # Each of the two waits for the other to begin.
    meets = "touch {here}; until [ -e {there} ]; do sleep 0.01; done; echo {here} >> ended"
    beside = tuple([shell(tmp_path, meets.format(here=a, there=b))] for a, b in ("xy", "yx"))
    monkeypatch.setattr(testing, "stages", lambda: [beside, ([shell(tmp_path, "echo last >> ended")],)])
    assert testing.run([]) == 0
    *both, last = ended.read_text().split()
    assert (sorted(both), last) == (["x", "y"], "last")


def test_every_test_is_of_one_part() -> None:
    [waiting], [rooms] = testing.waiting_tests(), testing.room_tests()
    every = {f"tests/{path.name}" for path in (PROJECT / "tests").iterdir() if any(path.rglob("test_*.py"))}
    every |= {f"tests/{path.name}" for path in (PROJECT / "tests").glob("test_*.py")}
    waits, counts = every & set(map(str, waiting.command)), every & set(map(str, rooms.command))
    assert (waits | counts, waits & counts) == (every, set())
    for path in testing.WAITING:
        assert (PROJECT / path).exists()
        assert path in waiting.command
        assert f"--ignore={path}" in rooms.command


def shell(folder: Path, words: str) -> Part:
    return Part("a part", ["sh", "-c", words], folder)


def test_unit_tests_check_overflows_and_debug_assertions_in_every_crate_of_the_engine() -> None:
    workspace = tomllib.loads((ENGINE / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    settings = tomllib.loads((ENGINE / "unit-tests.toml").read_text(encoding="utf-8"))
    packages = settings["profile"]["release"]["package"]
    assert sorted(packages) == sorted(member.removeprefix("crates/") for member in workspace["members"])
    assert all(package["overflow-checks"] and package["debug-assertions"] for package in packages.values())
    assert any("unit-tests.toml" in part.command for part in testing.builds())
