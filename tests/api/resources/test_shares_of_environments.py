"""Whoever may share the runs of one environment shares them by page and by REST, and ends their links, no others."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.services import token_create
from benchweb.hosts.models import Pair
from benchweb.sharing.models import Share
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_pair, make_run
from tests.sharing.scene import shared

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab() -> Pair:
    return make_pair(environment="lab")


@pytest.fixture
def olga(lab: Pair, settings: Settings) -> User:
    """An operator of the environment lab alone."""
    settings.DEFAULT_ROLE = "viewer"
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=lab.environment)
    return olga


def standing() -> int:
    return Share.objects.filter(revoked_at=None).count()


def test_links_of_an_environment_are_made_and_ended_there_alone(lab: Pair, olga: User, refused: Refused) -> None:
    ours, field = make_run(pair=lab), make_run(pair=make_pair(environment="field"))
    api, page = ApiClient(token_create(user=olga, name="script")[1]), Client()
    page.force_login(olga)
    made = api.post("/shares", {"run": ours.pk})
    assert made.status_code == 201
    assert "Revoke" in page.get(f"/runs/{ours.pk}/shares").content.decode()
    assert api.delete(f"/shares/{made.json()['id']}").status_code == 204
    page.post(f"/runs/{ours.pk}/shares", {"lasts": "7"})
    assert page.post(f"/shares/{Share.objects.latest('pk').pk}/revoke").status_code == 200
    assert standing() == 0

    theirs, _ = shared(field)
    assert "in the environment field" in refused(api.post("/shares", {"run": field.pk}), 403)
    refused(api.delete(f"/shares/{theirs.pk}"), 403)
    assert page.post(f"/shares/{theirs.pk}/revoke").status_code == 403
    assert "Revoke" not in page.get(f"/runs/{field.pk}/shares").content.decode()
    assert standing() == 1


def test_a_view_belongs_to_no_environment(olga: User, refused: Refused) -> None:
    api = ApiClient(token_create(user=olga, name="script")[1])
    refused(api.post("/shares", {"path": "/history"}), 403)
    boss = ApiClient(token_create(user=User.objects.create_superuser("boss"), name="script")[1])
    made = boss.post("/shares", {"path": "/history", "is_live": True})
    assert made.status_code == 201
    refused(api.delete(f"/shares/{made.json()['id']}"), 403)
    assert standing() == 1
