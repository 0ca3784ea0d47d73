"""Every address of the pages, as a request could name it."""

from dataclasses import replace

from benchweb.accounts.roles import routes
from benchweb.accounts.roles.needs import Needs
from benchweb.accounts.roles.routes import Route

# No row has it, and no token, kind or file is called so.
NO_ROW = "999999"


def page_routes() -> list[Route]:
    """Return all that is not below /api/."""
    return [replace(route, path=route.path_with(NO_ROW)) for route in routes.page_routes()]


def needing_routes() -> list[tuple[Route, Needs]]:
    """Return those that not everybody may open."""
    return [(route, route.stated) for route in page_routes() if isinstance(route.stated, Needs)]
