"""What a bound token makes is bound as it is: tokens, links, and no admin who could do the same from anywhere."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import ApiToken, Grant, Invitation, Role, Team
from benchweb.accounts.roles.bounds import BeyondBounds, limits_within
from benchweb.accounts.roles.grants import role_set, team_create, user_deactivate
from benchweb.accounts.roles.service_accounts import service_account_create
from benchweb.accounts.services import TokenLimits, token_create
from tests.api.conftest import ApiClient, Refused

pytestmark = pytest.mark.django_db
NETWORKS = ["127.0.0.0/8", "2001:db8::/32"]
CRON = {"name": "cron", "scope": "read"}


@pytest.fixture
def bound(admin: User) -> ApiClient:
    """An admin's token that is good from two networks only."""
    return ApiClient(token_create(user=admin, name="sync", limits=TokenLimits(networks=NETWORKS))[1])


@pytest.fixture
def ending(admin: User) -> ApiClient:
    """An admin's token that is good for two days."""
    limits = TokenLimits(expires_at=timezone.now() + timedelta(days=2))
    return ApiClient(token_create(user=admin, name="visit", limits=limits)[1])


@pytest.fixture(params=["bound", "ending"])
def limited(request: pytest.FixtureRequest) -> ApiClient:
    """An admin's token of networks, and one that ends."""
    client: ApiClient = request.getfixturevalue(request.param)
    return client


@pytest.fixture
def tokens(admin: User) -> str:
    """The path of the tokens of a service account."""
    return f"/service-accounts/{service_account_create(name='export', role='editor').pk}/tokens"


@pytest.mark.parametrize(
    ("networks", "field"),
    [
        ([], "networks"),
        (["0.0.0.0/0"], "networks.0"),
        (["127.0.0.0/7"], "networks.0"),
        (["127.0.0.1", "192.0.2.7"], "networks.1"),
        (["::ffff:127.0.0.1"], "networks.0"),
        (["2001:db8::/31"], "networks.0"),
    ],
)
def test_a_token_of_networks_makes_none_that_is_good_from_others(
    bound: ApiClient, tokens: str, refused: Refused, networks: list[str], field: str
) -> None:
    said = refused(bound.post(tokens, CRON | {"networks": networks}), 403, field)
    assert "This token is bound to 127.0.0.0/8, 2001:db8::/32" in said
    assert not ApiToken.objects.filter(name="cron").exists()
    entry = AuditEntry.objects.get(action=AuditEntry.Action.REFUSED)
    assert (entry.user_name, entry.via) == ("ada", "token")
    assert entry.object_name.startswith(f"POST /api/v1{tokens}: This token is bound to")


def test_a_token_of_networks_hands_them_on_or_a_part_of_them(bound: ApiClient, tokens: str) -> None:
    assert bound.post(tokens, CRON).json()["networks"] == NETWORKS
    part = ["127.0.0.1/32", "2001:db8:7::/48"]
    assert bound.post(tokens, CRON | {"networks": part}).json()["networks"] == part


def test_a_token_that_ends_makes_none_that_lasts_longer(ending: ApiClient, tokens: str, refused: Refused) -> None:
    end = ApiToken.objects.get(name="visit").expires_at
    assert end is not None
    ending.post(tokens, CRON)
    assert ApiToken.objects.get(name="cron").expires_at == end
    sooner = (end - timedelta(days=1)).isoformat()
    assert ending.post(tokens, CRON | {"expires_at": sooner}).status_code == 201
    for later in (None, (end + timedelta(seconds=1)).isoformat()):
        said = refused(ending.post(tokens, CRON | {"expires_at": later}), 403, "expires_at")
        assert said.startswith(f"This token ends at {end:%Y-%m-%d %H:%M:%S} UTC")
    assert ApiToken.objects.filter(name="cron").count() == 2


def test_a_link_lasts_no_longer_than_the_token_that_makes_it(ending: ApiClient, refused: Refused) -> None:
    end = ApiToken.objects.get(name="visit").expires_at
    assert end is not None
    ending.post("/invitations", {})
    assert abs(Invitation.objects.get().expires_at - end) < timedelta(seconds=5)
    later = {"expires_at": (end + timedelta(days=1)).isoformat()}
    refused(ending.post("/invitations", later), 403, "expires_at")
    assert Invitation.objects.count() == 1


@pytest.mark.parametrize(
    ("own", "wanted", "field"),
    [
        (TokenLimits(scope="read"), TokenLimits(scope="run"), "scope"),
        (TokenLimits(scope="metrics"), TokenLimits(scope="read"), "scope"),
        (TokenLimits(environment_ids=[3, 4]), TokenLimits(environment_ids=[4, 5]), "environments.1"),
        (TokenLimits(environment_ids=[3, 4]), TokenLimits(environment_ids=[]), "environments"),
    ],
)
def test_no_scope_and_no_environment_is_added(admin: User, own: TokenLimits, wanted: TokenLimits, field: str) -> None:
    token, _ = token_create(user=admin, name="sync", limits=own)
    with pytest.raises(BeyondBounds) as error:
        limits_within(token, wanted, chosen={"scope", "environments"})
    assert error.value.field == field


def test_environments_are_handed_on(admin: User) -> None:
    token, _ = token_create(user=admin, name="sync", limits=TokenLimits(environment_ids=[3, 4]))
    assert limits_within(token, TokenLimits(), chosen=set()).environment_ids == [3, 4]
    assert limits_within(token, TokenLimits(environment_ids=[4]), chosen={"environments"}).environment_ids == [4]


@pytest.mark.parametrize("limits", [TokenLimits(environment_ids=[1]), TokenLimits(scope="write")])
def test_a_token_of_environments_or_of_less_makes_none_at_all(
    admin: User, tokens: str, refused: Refused, limits: TokenLimits
) -> None:
    client = ApiClient(token_create(user=admin, name="sync", limits=limits)[1])
    bodies: dict[str, dict[str, object]] = {tokens: {**CRON}, "/users": {"name": "grace"}, "/invitations": {}}
    for path, body in bodies.items():
        refused(client.post(path, body), 403)
    assert not ApiToken.objects.filter(name="cron").exists()


def test_no_token_changes_its_own_bounds(bound: ApiClient, tokens: str, refused: Refused) -> None:
    made = bound.post(tokens, CRON).json()
    for method in ("PATCH", "PUT"):
        refused(bound.call(method, f"{tokens}/{made['id']}", {"networks": []}), 405)
    assert ApiToken.objects.get(pk=made["id"]).networks == NETWORKS


def everything(admins: Team, vera: User, service: User, shut: User) -> dict[str, tuple[str, str, dict[str, object]]]:
    """Return all ways to somebody who is an admin from anywhere."""
    return {
        "user": ("POST", "/users", {"name": "grace", "role": "admin"}),
        "user in a team": ("POST", "/users", {"name": "grace", "teams": [admins.pk]}),
        "role": ("PATCH", f"/users/{vera.pk}", {"role": "admin"}),
        "membership": ("PATCH", f"/users/{vera.pk}", {"teams": [admins.pk]}),
        "activation": ("PATCH", f"/users/{shut.pk}", {"is_active": True}),
        "role of who is deactivated": ("PATCH", f"/users/{shut.pk}", {"role": "admin"}),
        "service account": ("POST", "/service-accounts", {"name": "sync", "role": "admin"}),
        "role of a service account": ("PATCH", f"/service-accounts/{service.pk}", {"role": "admin"}),
        "service account in a team": ("PATCH", f"/service-accounts/{service.pk}", {"teams": [admins.pk]}),
        "team": ("POST", "/teams", {"name": "bosses", "role": "admin"}),
        "role of a team": ("PATCH", f"/teams/{Team.objects.get(name='night shift').pk}", {"role": "admin"}),
        "invitation": ("POST", "/invitations", {"role": "admin"}),
        "invitation to a team": ("POST", "/invitations", {"teams": [admins.pk]}),
        "password of an admin": ("POST", "/invitations", {"user": User.objects.get(username="ada").pk}),
    }


WAYS = [
    *("user", "user in a team", "role", "membership", "activation", "role of who is deactivated", "service account"),
    *("role of a service account", "service account in a team", "team", "role of a team", "invitation"),
    *("invitation to a team", "password of an admin"),
]


@pytest.mark.parametrize("way", WAYS)
def test_a_token_that_is_bound_makes_no_admin(limited: ApiClient, api: ApiClient, refused: Refused, way: str) -> None:
    admins = team_create(name="admins")
    role_set(role="admin", team=admins)
    team_create(name="night shift")
    vera, shut = User.objects.create_user("vera"), User.objects.create_superuser("shut")
    user_deactivate(user=shut, by=None)
    service = service_account_create(name="export", role="editor")
    ways = everything(admins, vera, service, shut)
    assert list(ways) == WAYS
    before = list(Grant.objects.values_list("pk", "role")), User.objects.count(), Team.objects.count()
    method, path, body = ways[way]
    said = refused(limited.call(method, path, body), 403)
    assert "it can't make anybody an admin" in said
    assert (list(Grant.objects.values_list("pk", "role")), User.objects.count(), Team.objects.count()) == before
    assert not Invitation.objects.exists() and not User.objects.get(username="shut").is_active
    # A token that isn't bound does it.
    assert api.call(method, path, body).status_code in (200, 201)


def test_nobody_is_an_admin_by_the_default_role(limited: ApiClient, refused: Refused, settings: Settings) -> None:
    settings.DEFAULT_ROLE = "admin"
    refused(limited.post("/invitations", {}), 403, "role")
    refused(limited.post("/users", {"name": "grace"}), 403)
    vera = User.objects.create_user("vera")
    Grant.objects.create(user=vera, role=Role.VIEWER)
    refused(limited.patch(f"/users/{vera.pk}", {"role": None}), 403)
    assert Grant.objects.get(user=vera).role == Role.VIEWER


def test_a_token_that_is_bound_looks_after_everybody_else(limited: ApiClient, admin: User) -> None:
    made = limited.post("/users", {"name": "grace", "role": "editor"})
    assert made.status_code == 201
    assert limited.patch(f"/users/{made.json()['id']}", {"role": "operator"}).status_code == 200
    assert limited.post("/invitations", {"user": made.json()["id"]}).status_code == 201
    assert limited.patch(f"/users/{admin.pk}", {"role": "admin"}).status_code == 200
