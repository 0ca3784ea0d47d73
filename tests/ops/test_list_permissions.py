"""docs/reference/permissions.md is what the code says."""

from pathlib import Path

from benchweb.ops.management.commands.list_permissions import permissions_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "permissions.md"


def test_the_reference_of_permissions_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8").rstrip() == permissions_page(), "run manage.py list_permissions"


def test_it_has_pages_and_calls_with_role_and_place() -> None:
    lines = permissions_page().splitlines()
    assert "| `/runs/<int:run_id>/cancel` | operator | in its environments |" in lines
    assert "| `/hosts/new` | editor |  |" in lines
    assert "| `POST /api/v1/hosts` | editor |  |" in lines
    assert "| `/runs/<int:run_id>/shares` | viewer; operator to send | in its environments |" in lines
    rows = [line for line in lines if line.startswith("| `")]
    assert len(rows) == len(set(rows)) > 330
