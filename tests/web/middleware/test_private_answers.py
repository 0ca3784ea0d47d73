"""What is for one reader stays with that one: no cache on the way keeps it, and no neighbour plants a cookie."""

from http.client import HTTPResponse
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.services import token_create
from tests.accounts.routes import needing_routes
from tests.factories import make_pair, make_plan, make_user
from tests.measured import measured_run
from tests.web.middleware.test_given_back import files
from tests.web.middleware.test_serving import fetched

PASSWORD = "correct horse battery"  # pragma: allowlist secret


@pytest.mark.django_db
def test_every_page_of_who_is_logged_in_is_private(signed_in: Client) -> None:
    public = [
        route.path
        for route, stated in needing_routes()
        if stated.redirects and "private" not in signed_in.get(route.path).headers.get("Cache-Control", "")
    ]
    assert public == []


@pytest.mark.django_db
def test_every_export_and_call_is_private(signed_in: Client, ada: User) -> None:
    for path in files():
        assert "private" in signed_in.get(path).headers["Cache-Control"], path
    bearer = {"Authorization": f"Bearer {token_create(user=ada, name='ci')[1]}"}
    run = measured_run(make_plan(), make_pair(environment="attic"), [1e9])
    for path in ("/runs", f"/runs/{run.pk}/results.json", f"/runs/{run.pk}/results.csv", "/openapi.json"):
        assert "private" in Client().get(f"/api/v1{path}", headers=bearer).headers["Cache-Control"], path


@pytest.mark.django_db
def test_a_page_that_shows_a_secret_is_stored_nowhere(signed_in: Client) -> None:
    values = {"name": "alder", "control_address": "192.0.2.1:7420", "network_mode": "host", "token": "s3cret"}
    host = signed_in.post("/hosts/new", values)["Location"]
    text = {"text": "name,address,token\nbirch,192.0.2.2,s3cret"}
    answers = {
        "/hosts/new": signed_in.get("/hosts/new"),
        "/hosts/command": signed_in.post("/hosts/command", values),
        "a host whose token was entered": signed_in.get(host),
        "/hosts/import/preview": signed_in.post("/hosts/import/preview", text),
        "/tokens": signed_in.post("/tokens", {"name": "ci", "scope": "read", "lasts": "30"}),
    }
    assert b"s3cret" in answers["a host whose token was entered"].content
    for name, answer in answers.items():
        assert answer.status_code in (200, 201), name
        assert "no-store" in answer.headers["Cache-Control"], name
    other = Client()
    other.force_login(User.objects.create_user("bob"))
    assert b"s3cret" not in other.get(host).content


@pytest.fixture
def environment_of_test(environment_of_test: dict[str, str]) -> dict[str, str]:
    return environment_of_test | {"BENCHWEB_BEHIND_TLS": "1"}


def cookies_of(answer: HTTPResponse) -> SimpleCookie:
    cookies = SimpleCookie()
    for header in answer.headers.get_all("Set-Cookie") or []:
        cookies.load(header)
    return cookies


@pytest.mark.django_db(transaction=True)
def test_behind_tls_cookies_are_this_hosts_alone(web: str) -> None:
    make_user("grace", PASSWORD)
    origin = {"X-Forwarded-Proto": "https", "Origin": f"https://{urlsplit(web).netloc}"}
    page = fetched(web, "/login", **origin)
    csrf = cookies_of(page)
    token = page.read().decode().partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    body = urlencode({"username": "grace", "password": PASSWORD, "csrfmiddlewaretoken": token})
    cookie = f"__Host-csrf={csrf['__Host-csrf'].value}"
    answer = fetched(web, "/login", cookie, "POST", body, **origin)
    assert answer.status == 302
    session = cookies_of(answer)["__Host-session"]
    for morsel in (session, csrf["__Host-csrf"]):
        assert (morsel["secure"], morsel["path"], morsel["domain"]) == (True, "/", "")
    assert fetched(web, "/hosts", f"__Host-session={session.value}", **origin).status == 200
    # One that a neighbour planted under the former name opens nothing.
    assert fetched(web, "/hosts", f"sessionid={session.value}", **origin).status == 302
