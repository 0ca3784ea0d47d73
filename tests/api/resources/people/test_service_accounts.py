"""Service accounts over REST: a token's secret is told once, and the token does no more than its scope."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import ApiToken, Grant
from benchweb.accounts.roles.service_accounts import service_account_create
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_environment

pytestmark = pytest.mark.django_db


@pytest.fixture
def tokens(admin: User) -> str:
    """The path of the tokens of a service account that is an editor."""
    return f"/service-accounts/{service_account_create(name='export', role='editor').pk}/tokens"


def test_an_account_is_made_and_changed(api: ApiClient, admin: User) -> None:
    lab = make_environment("lab")
    made = api.post("/service-accounts", {"name": "export", "role": "operator", "environment": lab.pk})
    assert made.status_code == 201
    item = made.json()
    assert (item["name"], item["role"], item["role_in_effect"]) == ("service export", None, "viewer")
    assert item["environment_roles"] == [{"environment": lab.pk, "role": "operator"}]
    path = f"/service-accounts/{item['id']}"
    assert api.patch(path, {"role": "editor"}).json()["role_in_effect"] == "editor"
    assert api.get("/service-accounts?name=Export").json()["items"] == [api.get(path).json()]
    assert api.patch(path, {"is_active": False}).json()["is_active"] is False
    assert api.get("/service-accounts?is_active=true").json()["items"] == []
    assert api.get(f"/service-accounts/{admin.pk}").status_code == 404
    entry = AuditEntry.objects.get(table="auth_user", action="created", object_name="service export")
    assert (entry.user_name, entry.via) == ("ada", "token")


def test_a_secret_is_told_once_and_does_what_its_scope_says(api: ApiClient, tokens: str, refused: Refused) -> None:
    made = api.post(tokens, {"name": "cron", "scope": "read"})
    assert made.status_code == 201
    secret = made.json()["secret"]
    assert secret.startswith("bw_") and secret not in api.get(tokens).content.decode()
    (listed,) = api.get(tokens).json()["items"]
    assert listed == {name: value for name, value in made.json().items() if name != "secret"}
    script = ApiClient(secret)
    assert script.get("/hosts").status_code == 200
    assert "this token has the role viewer" in refused(script.post("/environments", {"name": "a"}), 403)
    writer = ApiClient(api.post(tokens, {"name": "cron", "scope": "admin"}).json()["secret"])
    assert writer.post("/environments", {"name": "a"}).status_code == 201
    # Nor does any make itself more than its account.
    for path in ("/users", "/invitations", tokens, "/audit"):
        assert "this token has the role editor" in refused(writer.get(path), 403)
    refused(writer.post(tokens, {"name": "more", "scope": "admin"}), 403)
    refused(writer.patch(tokens.removesuffix("/tokens"), {"role": "admin"}), 403)
    stored = str(list(AuditEntry.objects.values_list("changes", flat=True)))
    assert secret not in stored and ApiToken.objects.get(scope="read").digest not in stored


def test_a_revoked_token_and_those_of_a_deactivated_account_are_refused(
    api: ApiClient, tokens: str, refused: Refused
) -> None:
    first, second = (api.post(tokens, {"name": "cron", "scope": "read"}).json() for _ in range(2))
    path = f"{tokens}/{first['id']}"
    assert (api.delete(path).status_code, api.delete(path).status_code) == (204, 204)
    refused(ApiClient(first["secret"]).get("/hosts"), 401)
    assert [each["id"] for each in api.get(f"{tokens}?is_revoked=true").json()["items"]] == [first["id"]]
    assert ApiClient(second["secret"]).get("/hosts").status_code == 200
    api.patch(tokens.removesuffix("/tokens"), {"is_active": False})
    refused(ApiClient(second["secret"]).get("/hosts"), 401)
    refused(api.post(tokens, {"name": "cron", "scope": "read"}), 409)


def test_a_token_is_bound_as_the_body_says(api: ApiClient, tokens: str, refused: Refused) -> None:
    lab = make_environment("lab")
    body = {"name": "cron", "scope": "write", "networks": ["192.0.2.7/24"], "environments": [lab.pk]}
    made = api.post(tokens, body | {"expires_at": None}).json()
    assert (made["networks"], made["environments"], made["expires_at"]) == (["192.0.2.0/24"], [lab.pk], None)
    refused(ApiClient(made["secret"]).get("/hosts"), 401)
    usual = api.post(tokens, {"name": "cron", "scope": "read"}).json()
    lasts = ApiToken.objects.get(pk=usual["id"]).expires_at - timezone.now()  # type: ignore[operator]
    assert timedelta(days=364) < lasts <= timedelta(days=365)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope": "root"}, "scope"),
        ({"name": ""}, "name"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"networks": ["lab"]}, "networks"),
        ({"environments": [999_999]}, "environments.0"),
        ({"user": 1}, "user"),
        ({"secret": "bw_chosen"}, "secret"),  # pragma: allowlist secret
        ({"digest": "0" * 64}, "digest"),
    ],
)
def test_a_wrong_token_is_refused(
    api: ApiClient, tokens: str, refused: Refused, body: dict[str, object], field: str
) -> None:
    before = ApiToken.objects.count()
    refused(api.post(tokens, {"name": "cron", "scope": "read"} | body), 422, field)
    assert ApiToken.objects.count() == before


def test_a_persons_tokens_are_not_reached(api: ApiClient, admin: User, tokens: str) -> None:
    assert api.get(f"/service-accounts/{admin.pk}/tokens").status_code == 404
    assert api.post(f"/service-accounts/{admin.pk}/tokens", {"name": "x", "scope": "admin"}).status_code == 404
    own = ApiToken.objects.get(user=admin)
    assert api.delete(f"{tokens}/{own.pk}").status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "a b", "role": "viewer"}, "name"),
        ({"name": "export"}, "role"),
        ({"name": "export", "role": "admin", "environment": "lab"}, "environment"),
        ({"name": "export", "role": "viewer", "is_superuser": True}, "is_superuser"),
        ({"name": "export", "role": "viewer", "scope": "admin"}, "scope"),
    ],
)
def test_a_wrong_account_is_refused(api: ApiClient, refused: Refused, body: dict[str, object], field: str) -> None:
    refused(api.post("/service-accounts", body), 422, field)
    assert Grant.objects.count() == 1


def test_an_admin_is_one_everywhere(api: ApiClient, refused: Refused) -> None:
    body = {"name": "export", "role": "admin", "environment": make_environment("lab").pk}
    assert "An admin is one everywhere" in refused(api.post("/service-accounts", body), 422, "environment")
    assert not User.objects.filter(username="service export").exists()
