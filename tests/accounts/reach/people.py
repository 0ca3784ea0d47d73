"""Who asks: by a role everywhere or in lab alone, or by a token limited to lab; and where things are."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import Access, AccessLimit, AnyOf, Place
from benchweb.accounts.services import TokenLimits, token_create

LAB, FIELD = 1, 2
# Places as a table names them. Hosts of field are in that environment alone, and new ones in none.
PLACES: dict[str, Place] = {
    "lab": LAB,
    "field": FIELD,
    "any": None,
    "hosts of field": AnyOf(0, frozenset({FIELD})),
    "hosts of both": AnyOf(1, frozenset({LAB, FIELD})),
    "new hosts": AnyOf(2, frozenset()),
}


@dataclass(frozen=True)
class Person:
    """A role everywhere, and one in lab; with `is_bound`, an admin by a token that changes lab alone."""

    everywhere: Role
    in_lab: Role | None = None
    is_bound: bool = False

    @property
    def access(self) -> Access:
        """Return what is promised, with the environments by their numbers here."""
        if self.is_bound:
            return AccessLimit(Role.ADMIN, frozenset({LAB})).applied(Access(self.everywhere))
        return Access(self.everywhere, {LAB: self.in_lab} if self.in_lab else {})

    @property
    def is_in_lab(self) -> bool:
        return self.is_bound or self.in_lab is not None

    def client(self, lab: int) -> Client:
        """Return a browser and script of a user like this one; `lab` is the environment's id."""
        user = User.objects.create_user("somebody")
        Grant.objects.create(user=user, role=self.everywhere)
        if self.in_lab:
            Grant.objects.create(user=user, role=self.in_lab, environment_id=lab)
        limits = TokenLimits(environment_ids=[lab] if self.is_bound else [])
        secret = token_create(user=user, name="script", limits=limits)[1]
        client = Client(headers={"Authorization": f"Bearer {secret}"})
        client.force_login(user)
        return client


PEOPLE = {
    **{str(role): Person(role) for role in Role},
    "viewer in lab": Person(Role.VIEWER, Role.VIEWER),
    "operator in lab": Person(Role.VIEWER, Role.OPERATOR),
    "editor in lab": Person(Role.VIEWER, Role.EDITOR),
    "token of lab": Person(Role.ADMIN, is_bound=True),
}
# Nobody opens a page by a token.
READERS = {name: person for name, person in PEOPLE.items() if not person.is_bound}
