"""The pages for operators name every variable that the code reads, and commands that exist."""

import re

import pytest
from django.core.management import get_commands

from tests.packaging import rules

NAMES = ("how-to/install.md", "how-to/engines.md", "how-to/maintain.md", "how-to/back-up.md", "reference/settings.md")
PAGE = "\n".join((rules.PROJECT / "docs" / name).read_text(encoding="utf-8") for name in NAMES)
# What manage.py tells itself.
INTERNAL = {"BENCHWEB_SET_UP", "BENCHWEB_TESTS_NOT_RUN", "BENCHWEB_TO_BUILD"}


def read_names(source: str) -> set[str]:
    """Find the variables that a piece of code names."""
    names = set(re.findall(r"\bBENCHWEB_[A-Z][A-Z_]*[A-Z]\b", source))
    return names | {f"BENCHWEB_{name}" for name in re.findall(r'\b_setting\("(\w+)"', source)}


def row_names(page: str) -> list[str]:
    """Find the variables that the page's tables are about."""
    return re.findall(r"^\| `([A-Z][A-Z_]+)` \|", page, flags=re.MULTILINE)


def code_names() -> set[str]:
    """Find the variables that the code names."""
    files = [rules.PROJECT / "manage.py"]
    files += [path for room in ("benchweb", "workers") for path in (rules.PROJECT / room).rglob("*.py")]
    return set().union(*(read_names(path.read_text(encoding="utf-8")) for path in files)) - INTERNAL


def compose_names() -> set[str]:
    """Find the variables that docker-compose.yml takes."""
    return {name for name, _, _ in rules.variables(rules.document())}


def test_every_variable_is_documented_once_and_none_that_is_not_read() -> None:
    assert sorted(row_names(PAGE)) == sorted(code_names() | compose_names())


def test_names_are_found_in_code_and_on_the_page() -> None:
    assert read_names('environ["BENCHWEB_A_B"], f"BENCHWEB_{x}", _setting("C_D", "")') == {
        "BENCHWEB_A_B",
        "BENCHWEB_C_D",
    }
    assert row_names("| `ONE` | x |\ntext `TWO`\n| `THREE_3` | x |\n| `FOUR` | `FIVE` |") == ["ONE", "FOUR"]


def test_every_variable_that_a_container_gets_is_read() -> None:
    services = rules.document()["services"].values()
    given = {key for service in services if "build" in service for key in service.get("environment", {})}
    assert given - code_names() == set()
    assert len(given) == 38


@pytest.mark.parametrize("command", ["createsuperuser", "changepassword"])
def test_a_command_of_the_page_exists(command: str) -> None:
    assert f"python -m django {command}" in PAGE
    assert f"manage.py {command}" in PAGE
    assert command in get_commands()


def test_every_service_that_the_page_names_exists() -> None:
    lines = re.findall(r"docker compose (?:exec(?: -T)?|logs -f|stop|--profile engine up -d --build) ([a-z ]+)", PAGE)
    named = {word for line in lines for word in line.split()[: 3 if line.startswith("web worker") else 1]}
    assert named == {"web", "worker", "beat", "postgres", "engine"}
    assert named <= set(rules.document()["services"])
