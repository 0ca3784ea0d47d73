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


def test_checks_and_builds_go_beside_each_other_and_so_do_tests_after_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Put back afterwards: the run that this test is part of has its own.
    monkeypatch.setenv(testing.NOT_RUN_FILE, "")
    ended = tmp_path / "ended"
    # Each of the two waits for the other to begin.
    meets = "touch {here}; until [ -e {there} ]; do sleep 0.01; done; echo {here} >> ended"
    monkeypatch.setattr(testing, "checks", lambda: [shell(tmp_path, meets.format(here="read", there="built"))])
    monkeypatch.setattr(testing, "builds", lambda: [shell(tmp_path, meets.format(here="built", there="read"))])
    monkeypatch.setattr(testing, "tests", lambda: [shell(tmp_path, meets.format(here="waited", there="counted"))])
    counts = shell(tmp_path, meets.format(here="counted", there="waited"))
    monkeypatch.setattr(testing, "background_tests", lambda: [counts])
    assert testing.run([]) == 0
    words = ended.read_text().split()
    assert (set(words[:2]), set(words[2:])) == ({"built", "read"}, {"counted", "waited"})


def test_every_test_is_of_one_part() -> None:
    waiting, background = testing.tests()[-1].command, testing.background_tests()[0].command
    every = {f"tests/{path.name}" for path in (PROJECT / "tests").iterdir() if any(path.rglob("test_*.py"))}
    assert every | {f"tests/{path.name}" for path in (PROJECT / "tests").glob("test_*.py")} <= {*waiting, *background}
    for path in testing.WAITING:
        assert (PROJECT / path).exists()
        assert path in waiting
        assert f"--ignore={path}" in background


def shell(folder: Path, words: str) -> Part:
    return Part("a part", ["sh", "-c", words], folder)


def test_unit_tests_check_overflows_and_debug_assertions_in_every_crate_of_the_engine() -> None:
    workspace = tomllib.loads((ENGINE / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    settings = tomllib.loads((ENGINE / "unit-tests.toml").read_text(encoding="utf-8"))
    packages = settings["profile"]["release"]["package"]
    assert sorted(packages) == sorted(member.removeprefix("crates/") for member in workspace["members"])
    assert all(package["overflow-checks"] and package["debug-assertions"] for package in packages.values())
    assert any("unit-tests.toml" in part.command for part in testing.builds())
