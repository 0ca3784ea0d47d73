"""API tokens: made and shown once, listed, revoked by their owner only."""

from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import ApiToken, Grant, Role
from benchweb.accounts.services import token_create, token_user


def test_a_secret_is_shown_once_and_works(signed_in: Client, ada: User) -> None:
    response = signed_in.post("/tokens", {"name": "nightly export", "scope": "run", "lasts": "0"})
    secret = response.context["secret"]
    assert token_user(secret=secret) == ada
    assert f"Authorization: Bearer {secret}" in response.context["example"]
    assert "no-store" in response["Cache-Control"]
    again = signed_in.get("/tokens").content.decode()
    assert secret not in again
    assert secret[:8] in again


def test_a_token_without_a_name_is_not_made(signed_in: Client) -> None:
    assert "What is it for? is required." in signed_in.post("/tokens", {"name": ""}).content.decode()
    assert ApiToken.objects.count() == 0


def test_a_token_is_revoked_after_asking(signed_in: Client, ada: User) -> None:
    token, secret = token_create(user=ada, name="nightly")
    assert "this can't be undone" in signed_in.get(f"/tokens/{token.pk}/revoke").content.decode()
    assert token_user(secret=secret) == ada
    signed_in.post(f"/tokens/{token.pk}/revoke")
    assert token_user(secret=secret) is None
    assert "Revoked: nightly" in signed_in.get("/tokens").content.decode()


def test_somebody_elses_token_is_neither_listed_nor_revoked(signed_in: Client, ada: User) -> None:
    Grant.objects.create(user=ada, role=Role.EDITOR)
    charles = User.objects.create_user("charles")
    token, secret = token_create(user=charles, name="difference")
    assert "difference" not in signed_in.get("/tokens").content.decode()
    assert signed_in.get(f"/tokens/{token.pk}/revoke").status_code == 404
    assert signed_in.post(f"/tokens/{token.pk}/revoke").status_code == 404
    assert token_user(secret=secret) == charles


def test_a_revoked_token_is_not_revoked_again(signed_in: Client, ada: User) -> None:
    token, _ = token_create(user=ada, name="nightly")
    signed_in.post(f"/tokens/{token.pk}/revoke")
    first = ApiToken.objects.get().revoked_at
    assert signed_in.post(f"/tokens/{token.pk}/revoke").status_code == 404
    assert ApiToken.objects.get().revoked_at == first
