"""Tokens with limits: what they may, until when, from where, and in which environments."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import ApiToken, Grant, Role
from benchweb.accounts.permissions import NOBODY, Access, AccessLimit, Permission, access_of
from benchweb.accounts.services import TokenLimits, TokenRefused, token_create, token_in_use, token_user
from benchweb.hosts.models import Pair
from tests.factories import make_environment, make_pair, make_plan

pytestmark = pytest.mark.django_db

PASSWORD = "an old password"  # pragma: allowlist secret
Called = Callable[..., int]


@pytest.fixture
def status(client: Client) -> Called:
    """Call the API from an address, and return the status."""

    def call(secret: str, address: str = "192.0.2.7", path: str = "/api/v1/hosts") -> int:
        answer = client.get(path, REMOTE_ADDR=address, headers={"authorization": f"Bearer {secret}"})
        return answer.status_code

    return call


def test_an_expired_token_is_refused_in_words_and_in_the_log(client: Client, ada: User) -> None:
    limits = TokenLimits(expires_at=timezone.now() - timedelta(hours=1))
    token, secret = token_create(user=ada, name="ci", limits=limits)
    for _ in range(3):
        answer = client.get("/api/v1/hosts", headers={"authorization": f"Bearer {secret}"})
    assert answer.status_code == 401
    assert "expired at" in answer.json()["detail"]
    (entry,) = AuditEntry.objects.filter(action="refused")
    assert (entry.user_name, entry.token_id) == ("ada", token.pk)
    assert token_user(secret=secret) is None


def test_a_token_is_good_from_its_networks_only(status: Called, ada: User) -> None:
    limits = TokenLimits(networks=["192.0.2.0/24", "2001:db8::/32"])
    token, secret = token_create(user=ada, name="ci", limits=limits)
    assert status(secret, "198.51.100.1") == 401
    assert status(secret, "192.0.2.9") == 200
    assert status(secret, "2001:db8::9") == 200
    token.refresh_from_db()
    assert token.last_used_address == "192.0.2.9"
    assert status(secret, "198.51.100.1", "/metrics") == 401
    with pytest.raises(TokenRefused, match="not valid from"):
        token_in_use(secret=secret)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("metrics", None),
        ("read", Role.VIEWER),
        ("run", Role.OPERATOR),
        ("write", Role.EDITOR),
        ("admin", Role.ADMIN),
    ],
)
def test_a_scope_is_the_most_that_a_token_allows(ada: User, scope: str, expected: Role | None) -> None:
    _, secret = token_create(user=ada, name="ci", limits=TokenLimits(scope=scope))
    assert access_of(token_user(secret=secret)).everywhere == expected


def test_a_token_never_allows_more_than_its_user() -> None:
    limit = AccessLimit(Role.ADMIN, frozenset())
    assert limit.applied(Access(Role.VIEWER, {3: Role.EDITOR})) == Access(Role.VIEWER, {3: Role.EDITOR})
    assert limit.applied(NOBODY) == NOBODY


def test_a_token_of_an_environment_changes_nothing_elsewhere() -> None:
    access = AccessLimit(Role.EDITOR, frozenset({3, 4})).applied(
        Access(Role.OPERATOR, {4: Role.EDITOR, 5: Role.EDITOR})
    )
    assert access == Access(Role.VIEWER, {3: Role.OPERATOR, 4: Role.EDITOR})
    assert not access.may_in(Permission.RUN, 5)


def test_the_page_makes_a_token_with_limits(signed_in: Client) -> None:
    lab = make_environment("lab")
    fields = {"name": "ci", "scope": "run", "lasts": "30", "networks": "192.0.2.7, 2001:db8::/32"}
    signed_in.post("/tokens", fields | {"environments": [lab.pk]})
    token = ApiToken.objects.get()
    assert (token.scope, token.networks) == ("run", ["192.0.2.7/32", "2001:db8::/32"])
    assert token.environment_ids == [lab.pk]
    assert token.expires_at is not None
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)
    page = signed_in.post("/tokens", fields | {"networks": "lab network"}).content.decode()
    assert "lab is neither an address nor a network" in page
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize("keeps", [False, True])
def test_a_new_password_revokes_the_tokens_unless_they_are_kept(signed_in: Client, ada: User, keeps: bool) -> None:
    ada.set_password(PASSWORD)
    ada.save()
    signed_in.force_login(ada)
    _, secret = token_create(user=ada, name="ci")
    new = {"new_password1": "another pass phrase", "new_password2": "another pass phrase"}  # pragma: allowlist secret
    assert "API tokens that are revoked:" in signed_in.get("/account/password").content.decode()
    form = {"old_password": PASSWORD, **new} | ({"keep_tokens": "on"} if keeps else {})
    assert signed_in.post("/account/password", form)["Location"] == "/account"
    assert (token_user(secret=secret) is not None) == keeps


def test_an_admin_sees_and_revokes_the_tokens_of_all(client: Client, ada: User) -> None:
    grace = User.objects.create_user("grace")
    token, secret = token_create(user=ada, name="script of ada")
    client.force_login(grace)
    Grant.objects.create(user=grace, role=Role.OPERATOR)
    assert "script of ada" not in client.get("/tokens").content.decode()
    assert client.post(f"/tokens/{token.pk}/revoke").status_code == 404
    Grant.objects.update(role=Role.ADMIN)
    page = client.get("/tokens").content.decode()
    assert "script of ada" in page and secret not in page
    client.post(f"/tokens/{token.pk}/revoke")
    assert token_user(secret=secret) is None


def test_the_lists_say_what_each_token_is_limited_to(signed_in: Client, ada: User) -> None:
    lab = make_environment("lab <1>")
    limits = TokenLimits(environment_ids=[lab.pk], networks=["192.0.2.0/24"])
    token_create(user=ada, name="mine", limits=limits)
    token_create(user=User.objects.create_user("grace"), name="hers", limits=limits)
    Grant.objects.create(user=ada, role=Role.ADMIN)
    mine, hers = re.findall(r'data-label="It may">(.+?)</td>', signed_in.get("/tokens").content.decode())
    for said, scope in ((mine, "All that you may"), (hers, "All that the account may")):
        assert strip_tags(said) == f"{scope} changes only in lab &lt;1&gt; from 192.0.2.0/24"


def test_a_token_changes_nothing_beyond_its_scope_and_environment(client: Client, ada: User) -> None:
    pair, elsewhere = make_pair(environment="lab"), make_pair(environment="production")

    def launched(limits: TokenLimits, pair: Pair) -> int:
        _, secret = token_create(user=ada, name="ci", limits=limits)
        body = {"plan": make_plan().pk, "pair": pair.pk}
        headers = {"authorization": f"Bearer {secret}"}
        return client.post("/api/v1/runs", body, "application/json", headers=headers).status_code

    assert launched(TokenLimits(scope="read"), pair) == 403
    assert launched(TokenLimits(scope="metrics"), pair) == 403
    assert launched(TokenLimits(scope="run"), pair) == 201
    assert launched(TokenLimits(scope="run", environment_ids=[pair.environment_id]), elsewhere) == 403
    assert launched(TokenLimits(scope="run", environment_ids=[pair.environment_id]), pair) == 201
