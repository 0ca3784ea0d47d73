"""The table of who reaches what, worked out from what routes and scenes say that they need."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchweb.accounts.permissions import Access, Permission, Refused
from benchweb.accounts.roles.needs import Needs
from benchweb.accounts.roles.routes import call_routes, page_routes
from tests.accounts.reach import calls, pages
from tests.accounts.reach.people import PEOPLE, PLACES, READERS, Person
from tests.accounts.reach.scenes import Scene

READ = "GET"
_HEAD = """# Who reaches what, by role and environment

Made by `python -m tests.accounts.reach`, and held true by tests that send each of these requests as each of these
people. There are two environments, `lab` and `field`, with pairs, runs, schedules, alerts, notes and links of their
own, and hosts that are in that one alone; new hosts are in none. Who has a role **in lab** is a viewer everywhere
else; the **token of lab** is an admin's, limited to that environment. Who isn't logged in, and a token that isn't
valid, is refused all of this.

How a host comes to be in an environment: [users and teams](../how-to/users.md#hosts-and-environments). Which page needs
which role: [who may do what](permissions.md)."""


@dataclass(frozen=True)
class Row:
    """A request to a route, without anything in its body; `place` is where the rows are that its address names."""

    method: str
    path: str
    stated: Needs
    place: str = ""

    @property
    def permission(self) -> Permission:
        return self.stated.of(self.method)

    def allows(self, access: Access) -> bool:
        """Tell whether somebody may send it."""
        if self.place:
            return allowed(access, self.permission, (self.place,))
        return access.may_somewhere(self.permission) if self.stated.checked_by_view else access.may(self.permission)

    def scenes(self, scenes: Sequence[Scene]) -> list[Scene]:
        """Return those of the same request."""
        return [scene for scene in scenes if (scene.method, scene.path) == (self.method, self.path)]

    def is_decided_by(self, scenes: Sequence[Scene]) -> bool:
        """Tell whether the body alone decides, and scenes say how."""
        return self.stated.checked_by_view and bool(self.scenes(scenes))


def allowed(access: Access, permission: Permission, places: tuple[str, ...]) -> bool:
    """Tell whether somebody has a permission in all of these places."""
    try:
        access.demand(permission, [PLACES[place] for place in places])
    except Refused:
        return False
    return True


def page_rows() -> list[Row]:
    """Return what can be asked of each page: to be seen, and to be sent."""
    stated = {route.path: route.stated for route in reversed(page_routes())}
    needing = [(path, needs) for path, needs in sorted(stated.items()) if isinstance(needs, Needs)]
    return [row for path, needs in needing for method in (READ, "POST") for row in _rows(method, path, needs)]


def call_rows() -> list[Row]:
    """Return what can be asked of each operation of the API."""
    stated = {(path, method): needs for method, path, needs in call_routes() if needs}
    return [row for (path, method), needs in stated.items() for row in _rows(method, path, needs)]


def _rows(method: str, path: str, needs: Needs) -> Iterator[Row]:
    places = ("lab", "field") if needs.within and needs.of(method) != Permission.READ else ("",)
    return (Row(method, path, needs, place) for place in places)


def reach_page() -> str:
    """Return docs/reference/reach.md."""
    return "\n".join(
        [
            *(_HEAD, "\n## Pages\n"),
            *_table(page_rows(), pages.SCENES, READERS),
            *("\n## REST\n",),
            *_table(call_rows(), calls.SCENES, PEOPLE),
        ]
    )


def _table(rows: list[Row], scenes: list[Scene], people: Mapping[str, Person]) -> Iterator[str]:
    yield f"| request | about | {' | '.join(people)} |"
    yield f"|---|---|{'---|' * len(people)}"
    for row in rows:
        if not row.is_decided_by(scenes):
            yield _line(row.method, row.path, row.place, [row.allows(person.access) for person in people.values()])
        if row.place != "lab":
            for scene in row.scenes(scenes):
                may = [allowed(person.access, scene.permission, scene.places) for person in people.values()]
                yield _line(scene.method, scene.path, scene.about, may)


def _line(method: str, path: str, about: str, may: list[bool]) -> str:
    cells = " | ".join("✓" if each else "–" for each in may)
    return f"| `{method} {path}` | {about} | {cells} |"
