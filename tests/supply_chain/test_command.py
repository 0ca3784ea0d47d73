"""The command that CI calls: what is wrong fails it, what could not be judged is told and fails nothing."""

import sys
from collections.abc import Iterator

import pytest

from benchweb.ops.setup import testing
from benchweb.ops.supply_chain import __main__ as command
from benchweb.ops.supply_chain.findings import Finding

WRONG = Finding("uv.lock: planted 1.0 has no files with hashes.")
NOT_JUDGED = Finding("known faults of npm packages: no answer", is_judged=False)


def run(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> int:
    def check() -> Iterator[Finding]:
        yield from findings

    monkeypatch.setitem(command.CHECKS, "npm", check)
    monkeypatch.setattr(sys, "argv", ["supply_chain", "npm"])
    return command.main()


def test_what_is_wrong_fails_and_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, NOT_JUDGED, WRONG) == 1
    assert WRONG.text in capsys.readouterr().out.splitlines()


def test_what_is_not_judged_passes_and_reaches_the_summary(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, NOT_JUDGED) == 0
    assert capsys.readouterr().out == f"{testing.NOT_JUDGED}: known faults of npm packages: no answer\n"


def test_every_check_is_a_part_of_the_test_command() -> None:
    called = [list(part.command)[-1] for part in testing.checks() if "benchweb.ops.supply_chain" in part.command]
    assert called == list(command.CHECKS)
