"""Every page is refused to those whose role doesn't allow it, and to nobody else."""

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.permissions import Access, Permission
from benchweb.accounts.roles.needs import OpenToAll
from benchweb.urls import urlpatterns as all_patterns
from tests.accounts.routes import needing_routes, page_routes

# Who may open these is decided by something else than a role, and each says by what.
OPEN = {
    *("livez", "readyz", "healthz", "metrics", "login", "logout", "language", "password_forgotten", "new_password"),
    *("first_admin", "invitation", "mfa_authenticate", "mfa_login_webauthn", "session"),
    *("provider_login", "account_login", "openid_connect_callback", "socialaccount_login_cancelled"),
    *("install_script", "install_program", "install_claim", "install_ready"),
    *(
        "shared",
        "shared_badge",
        "shared_embed",
        "shared_csv",
        "shared_json",
        "shared_markdown",
        "share_unlock",
        "/s",
        "/s/",
        "/s/<path:rest>",
    ),
}
# What a viewer may send: nothing that others see, but for views that they offer to the team.
SENT_BY_VIEWERS = {
    *("account", "password", "mail_address", "session_end", "sessions_end", "tokens", "token_revoke", "columns_save"),
    *(
        "saved_view_save",
        "saved_view_change",
        "endpoint_watch",
        "pair_watch",
        "ticked_compare",
        "ticked_export",
        "runs_bulk",
    ),
}


def forgetful(request: HttpRequest) -> HttpResponse:
    """Answer like a view whose author forgot to say what it needs."""
    return HttpResponse("let in")


urlpatterns = [*all_patterns, path("forgetful", forgetful)]
handler403 = "benchweb.web.access.refusals.refused"


def user_of(role: Role) -> User:
    user = User.objects.create_user(f"the-{role}")
    Grant.objects.create(user=user, role=role)
    return user


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_every_page_names_what_it_needs() -> None:
    routes = page_routes()
    assert len(routes) > 190
    assert [route.path for route in routes if route.stated is None] == []
    assert {route.name for route in routes if isinstance(route.stated, OpenToAll)} == OPEN
    assert all(len(route.stated.why) > 20 for route in routes if isinstance(route.stated, OpenToAll))


@pytest.mark.urls("tests.accounts.test_routes")
def test_a_page_that_names_nothing_lets_nobody_in(db: None) -> None:
    response = client_of(user_of(Role.ADMIN)).get("/forgetful")
    assert response.status_code == 403
    assert "Nobody may open this page" in response.content.decode()
    assert Client().get("/forgetful").status_code == 403


@pytest.mark.usefixtures("plain_refusals")
@pytest.mark.parametrize("role", Role)
def test_each_page_is_refused_exactly_where_the_role_is_too_low(db: None, role: Role) -> None:
    client, access = client_of(user_of(role)), Access(role)
    wrong, refusals = [], 0
    for route, stated in needing_routes():
        # Streams give their connection back, which a test's transaction doesn't survive; all roles may read them.
        if not stated.redirects:
            assert stated.of("POST") == Permission.READ
            continue
        for method in ("GET", "POST"):
            is_refused = client.generic(method, route.path).status_code == 403
            refusals += is_refused
            if is_refused is access.may(stated.of(method)):
                wrong.append((method, route.path))
    assert wrong == []
    assert (refusals == 0) is (role == Role.ADMIN)


def test_a_viewer_can_post_only_what_is_their_own() -> None:
    allowed = {route.name for route, stated in needing_routes() if Access(Role.VIEWER).may(stated.of("POST"))}
    reading = {route.name for route, stated in needing_routes() if stated.of("POST") == Permission.READ}
    assert allowed == reading
    assert allowed >= SENT_BY_VIEWERS


def test_a_stranger_is_asked_to_log_in_everywhere(db: None) -> None:
    client = Client()
    for route, stated in needing_routes():
        for method in ("GET", "POST"):
            response = client.generic(method, route.path)
            status = 302 if stated.redirects else 403
            assert (response.status_code, route.path) == (status, route.path)
            assert not stated.redirects or response["Location"].startswith("/login?next=")


def test_a_refusal_says_which_role_it_takes_and_who_can_give_it(db: None, settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"
    user_of(Role.ADMIN)
    User.objects.create_superuser("root")
    User.objects.create_superuser("gone", is_active=False)
    text = client_of(user_of(Role.OPERATOR)).get("/hosts/new").content.decode()
    assert "This needs the role Editor; you have the role Operator." in text
    assert "Ask an admin for it: root, the-admin." in text


def test_letting_in_costs_no_query(db: None, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    client = client_of(user_of(Role.VIEWER))
    # The session and its user, with their roles.
    with django_assert_num_queries(2):
        client.get("/account/mail")
