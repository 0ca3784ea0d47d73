"""The list of all share links: those that stand, those that ended, and many revoked at once, after asking."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.sharing.models import Share
from benchweb.sharing.services import share_create, share_revoke
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def links() -> list[Share]:
    """A link that stands, one that is revoked and one that has expired."""
    ada = make_user("ada", "a password of hers")
    made = [share_create(run=make_run(), user=ada)[0] for _ in range(3)]
    share_revoke(share_id=made[1].pk)
    Share.objects.filter(pk=made[2].pk).update(expires_at=timezone.now() - timedelta(days=1))
    return made


def shown(client: Client, query: str = "") -> set[int]:
    page = client.get(f"/shares{query}").context["page"]
    return {share.pk for share in page.rows}


def test_links_that_stand_and_ended_ones_are_listed_apart(admin_client: Client, links: list[Share]) -> None:
    assert shown(admin_client) == {links[0].pk}
    assert shown(admin_client, "?ended=1") == {links[1].pk, links[2].pk}
    assert shown(admin_client, "?user=grace") == set()


def test_links_are_revoked_together_after_asking(admin_client: Client, links: list[Share]) -> None:
    asked = admin_client.post("/shares/end", {"share": [links[0].pk, links[2].pk]})
    assert "Revoke 1 link?" in asked.content.decode()
    assert shown(admin_client) == {links[0].pk}
    admin_client.post("/shares/end", {"share": links[0].pk, "confirmed": "1"})
    assert shown(admin_client) == set()
    assert Share.objects.get(pk=links[0].pk).revoked_at is not None
    told = admin_client.post("/shares/end", {"share": "no number"}, follow=True).content.decode()
    assert "No link is selected" in told
