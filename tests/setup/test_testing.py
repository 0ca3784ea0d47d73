"""`manage.py test`: what a part says is told, and what it could not judge is neither hidden nor taken for passed."""

import pytest

from benchweb.ops.setup import testing
from benchweb.ops.setup.testing import Part


def test_what_a_part_could_not_judge_is_given_by_name() -> None:
    words = "echo 'test a ... NOT JUDGED: b: the machine stood still'; echo 'test c ... ok'"
    passed, _, not_judged = testing._passes(Part("figures", ["sh", "-c", words]))
    assert passed
    assert not_judged == ["NOT JUDGED: b: the machine stood still"]


def test_of_a_part_that_fails_all_is_told_but_the_tests_that_passed(capsys: pytest.CaptureFixture[str]) -> None:
    passed, _, _ = testing._passes(
        Part("figures", ["sh", "-c", "echo 'test a ... ok'; echo 'test b ... FAILED'; exit 1"])
    )
    told = capsys.readouterr().out
    assert not passed
    assert "test b ... FAILED" in told
    assert "test a" not in told
