"""What the machine lacks is installed where nobody has to be asked, and else told by name with its command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchweb.ops.running.home import PROJECT
from benchweb.ops.setup import apt, bootstrap, requirements, testing
from benchweb.ops.setup.requirements import Requirement
from benchweb.ops.setup.testing import Part


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of programs: the only ones that this machine has, with an apt-get that brings `wanted`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("env", "sh", "touch", "chmod", "cat"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    log = tmp_path / "log"
    program(
        folder,
        "apt-get",
        f'echo "$@" >> {log}\n'
        f'case "$*" in *unknown*) echo "E: Unable to locate package unknown"; exit 100;; '
        f"*install*) touch {folder}/wanted; chmod 755 {folder}/wanted;; esac",
    )
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch) -> Requirement:
    """Need one program more, of the package `wanted-package`, and nothing else."""
    return needs(monkeypatch, ("wanted-package",))


def needs(monkeypatch: pytest.MonkeyPatch, *packages: tuple[str, ...]) -> Requirement:
    each = [Requirement(f"wanted{index or ''}", has_wanted, names, ("test",)) for index, names in enumerate(packages)]
    monkeypatch.setattr(requirements, "REQUIREMENTS", tuple(each))
    return each[0]


def has_wanted() -> bool:
    return any((Path(folder) / "wanted").exists() for folder in os.environ["PATH"].split(":"))


def calls(machine: Path) -> list[str]:
    log = machine.parent / "log"
    return [line.split("Acquire::Retries=2 ")[1] for line in log.read_text().splitlines()] if log.exists() else []


def test_root_installs_what_is_missing_and_says_so(
    machine: Path, wanted: Requirement, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert apt.install_missing("test") == []
    assert calls(machine) == ["update", "install --no-install-recommends wanted-package"]
    assert capsys.readouterr().out == "test: installing Debian packages: wanted-package\n"
    assert apt.install_missing("test") == []
    assert len(calls(machine)) == 2


def test_a_command_that_needs_nothing_installs_nothing(
    machine: Path, wanted: Requirement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert apt.install_missing("up") == []
    assert calls(machine) == []


def test_a_sudo_that_asks_nothing_is_used(machine: Path, wanted: Requirement, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program(machine, "sudo", '[ "$1" = -n ] || exit 1; shift; exec "$@"')
    (machine / "true").symlink_to("/usr/bin/true")
    assert apt.install_missing("test") == []


@pytest.mark.parametrize("sudo", ["", 'echo "sudo: a password is required" >&2; exit 1'])
def test_without_a_way_to_root_nothing_is_tried(
    machine: Path, wanted: Requirement, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sudo: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    if sudo:
        program(machine, "sudo", sudo)
    assert apt.install_missing("test") == [wanted]
    assert (calls(machine), capsys.readouterr().out) == ([], "")


def test_without_apt_what_is_missing_is_returned(
    machine: Path, wanted: Requirement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (machine / "apt-get").unlink()
    assert apt.install_missing("test") == [wanted]


def test_a_package_that_the_release_lacks_keeps_no_other_away(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needs(monkeypatch, ("unknown",), ("wanted-package",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert apt.install_missing("test") == []
    assert calls(machine)[-1] == "install --no-install-recommends wanted-package"
    assert "E: Unable to locate package unknown" in capsys.readouterr().out


def test_tests_go_on_without_rust_and_up_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    rust = requirements.by_name(requirements.RUST)
    monkeypatch.setattr(apt, "install_missing", lambda command: [rust])
    monkeypatch.setattr(bootstrap, "_stale", list)
    monkeypatch.delenv("CI", raising=False)
    names = ("python", "ldap", "frontend", "engine", "fixture")
    assert bootstrap._possible("test", names) == ["python", "ldap", "frontend"]
    assert bootstrap._possible("up", names) == names
    monkeypatch.setenv("CI", "true")
    assert bootstrap._possible("test", names) == names


def test_the_ldap_library_is_compiled_for_those_only_who_set_a_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHWEB_LDAP_URL", raising=False)
    assert bootstrap._with_ldap(("python",)) == ("python",)
    monkeypatch.setenv("BENCHWEB_LDAP_URL", "ldaps://ldap.example.org")
    assert bootstrap._with_ldap(("python",)) == ["python", "ldap"]
    assert bootstrap._with_ldap(("python", "ldap")) == ("python", "ldap")


def test_a_part_that_cannot_run_is_listed_with_its_command_and_fails_only_in_ci(
    monkeypatch: pytest.MonkeyPatch, wanted: Requirement, capsys: pytest.CaptureFixture[str], machine: Path
) -> None:
    parts = [Part("figures", ["/usr/bin/true"]), Part("pictures", ["/usr/bin/false"], needs=("wanted",))]
    monkeypatch.setattr(testing, "stages", lambda: [(parts[:1], []), (parts[1:],)])
    monkeypatch.delenv("CI", raising=False)
    assert testing.run([]) == 0
    told = capsys.readouterr().out
    assert "Every part that could run passed.\n1 could not run on this machine:\n" in told
    assert "  pictures: needs wanted: sudo apt install wanted-package\n" in told
    monkeypatch.setenv("CI", "true")
    assert testing.run([]) == 1


@pytest.mark.parametrize(("ci", "outcome"), [("", "1 skipped"), ("true", "1 error")])
def test_a_test_that_cannot_run_is_named_for_the_summary(tmp_path: Path, ci: str, outcome: str) -> None:
    test = tmp_path / "test_of_this_machine.py"
    test.write_text('import pytest\n\n@pytest.mark.needs("Chromium")\ndef test_a_page():\n    assert False\n')
    listed = tmp_path / "not-run"
    environment = {**os.environ, "PATH": "/nonexistent", testing.NOT_RUN_FILE: str(listed), "PYTHONPATH": str(PROJECT)}
    environment = {name: value for name, value in environment.items() if name != "CI"} | ({"CI": ci} if ci else {})
    words: list[str | Path] = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--rootdir",
        PROJECT,
        "-c",
        PROJECT / "pyproject.toml",
        test,
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert outcome in done.stdout, done.stdout
    line = "::test_a_page: needs Chromium: sudo apt install chromium-headless-shell\n"
    assert (listed.exists() and listed.read_text().endswith(line)) == (not ci)


def test_every_requirement_names_packages_or_another_way_and_is_met_where_ci_runs() -> None:
    assert all(each.packages or each.other_way for each in requirements.REQUIREMENTS)
    names = [each.name for each in requirements.REQUIREMENTS]
    assert len(set(names)) == len(names)
    if "CI" in os.environ:
        assert [each.name for each in requirements.missing("test")] == []


def test_the_ci_script_repeats_no_package() -> None:
    script = (PROJECT / ".ci" / "run").read_text()
    assert "apt" not in script
    assert not [each for one in requirements.REQUIREMENTS for each in one.packages if each in script]


def test_the_version_of_a_program_that_does_not_run_is_nought(tmp_path: Path) -> None:
    assert requirements.program_version(tmp_path / "absent") == (0, 0)
    program(tmp_path, "old", "echo node v18.2.1")
    assert requirements.program_version(tmp_path / "old") == (18, 2)
