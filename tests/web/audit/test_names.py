"""Roles and memberships are named in the log by whose they are, also once they are gone."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.html import strip_tags

from benchweb.accounts.models import Grant
from benchweb.accounts.roles.grants import member_add, member_remove, role_set, role_take, team_create
from tests.factories import make_environment

pytestmark = pytest.mark.django_db


def told(client: Client, query: str) -> list[str]:
    """Return what the log says was done, the oldest first."""
    page = client.get(f"/audit?{query}").content.decode()
    cells = re.findall(r'<td class="card-title">(.+?)(?:<a class="meta"|</td>)', page, re.DOTALL)
    return [" ".join(strip_tags(cell).split()) for cell in reversed(cells)]


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def test_a_role_is_named_by_whose_it_is_and_where(root: Client) -> None:
    grace, team, lab = User.objects.create_user("grace"), team_create(name="night shift"), make_environment("lab")
    role_set(role="operator", user=grace, environment_id=lab.pk)
    role_set(role="editor", user=grace, environment_id=lab.pk)
    role_set(role="viewer", team=team)
    role_take(grant=Grant.objects.get(team=team))
    assert told(root, "table=accounts_grant") == [
        "created · Role grace: Operator in lab",
        "changed · Role grace: Editor in lab",
        "created · Role night shift: Viewer everywhere",
        "deleted · Role night shift: Viewer everywhere",
    ]


def test_a_membership_is_named_by_team_and_user(root: Client) -> None:
    grace, team = User.objects.create_user("grace"), team_create(name="night shift")
    member_add(team=team, user=grace)
    member_remove(team=team, user=grace)
    words = "Member of a team night shift: grace"
    assert told(root, "table=accounts_membership") == [f"created · {words}", f"deleted · {words}"]
