"""Read imports."""

from benchweb.common.rows import fetch_column


def imported_tools() -> list[str]:
    """Return the tools of all imports, in the order of the alphabet; one query."""
    return fetch_column("SELECT DISTINCT unnest(tools) AS tool FROM imports_import ORDER BY tool")
