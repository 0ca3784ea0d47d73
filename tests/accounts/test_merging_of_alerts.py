"""Merging touches two alerts: it takes the role in the environments of both."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.services import token_create
from benchweb.hosts.models import Pair
from benchweb.regressions.models import Alert
from tests.api.conftest import ApiClient
from tests.factories import make_alert, make_pair

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab(settings: Settings) -> Pair:
    """A pair of the environment in which olga is an operator."""
    settings.DEFAULT_ROLE = "viewer"
    pair = make_pair(environment="lab")
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=pair.environment)
    return pair


@pytest.fixture
def olga(lab: Pair) -> User:
    return User.objects.get(username="olga")


def states(*alerts: Alert) -> list[tuple[str, int | None]]:
    return [Alert.objects.values_list("state", "merged_into").get(pk=alert.pk) for alert in alerts]


@pytest.mark.parametrize("is_ours", [True, False])
def test_no_alert_is_merged_into_one_of_another_environment(lab: Pair, olga: User, is_ours: bool) -> None:
    ours, theirs = make_alert(pair=lab), make_alert(pair=make_pair(environment="field"))
    into = make_alert(pair=lab) if is_ours else theirs
    api = ApiClient(token_create(user=olga, name="script")[1])
    page = Client()
    page.force_login(olga)
    before = states(ours, theirs)
    answers = [
        api.post(f"/alerts/{ours.pk}/merge", {"into": into.pk}).status_code,
        page.post(f"/alerts/{make_alert(pair=lab).pk}/move", {"action": "merge", "into": into.pk}).status_code,
    ]
    assert answers == ([200, 302] if is_ours else [403, 403])
    assert (states(ours, theirs) == before) is not is_ours
