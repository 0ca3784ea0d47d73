"""A proxy names the user in a header: believed from named proxies only, and for as long as it says so."""

from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIRequest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.login.groups import groups_apply
from benchweb.accounts.login.proxy import named_user
from benchweb.accounts.models import Grant, Role, UserSession
from benchweb.accounts.permissions import access_of, with_grants
from benchweb.accounts.services import token_create
from benchweb.login_settings import words
from benchweb.ops.settings_checks import settings_are_usable
from tests.factories import make_user

pytestmark = pytest.mark.django_db
PROXY = "10.0.0.5"


@pytest.fixture(autouse=True)
def behind_a_proxy(settings: Settings) -> None:
    settings.LOGIN_PROXY_HEADER = "X-Forwarded-User"
    settings.LOGIN_PROXIES = [PROXY]


def request(client: Client, user: str | None = "ada", *, peer: str = PROXY, **headers: str) -> int:
    names = {} if user is None else {"X-Forwarded-User": user}
    return client.get("/hosts", headers=names | headers, REMOTE_ADDR=peer).status_code


def test_whom_the_proxy_names_is_in_and_has_an_account_from_then_on() -> None:
    client = Client()
    assert request(client) == 200
    ada = User.objects.get()
    assert (ada.username, ada.is_superuser, ada.has_usable_password()) == ("ada", False, False)
    assert UserSession.objects.get().user == ada
    assert UserSession.objects.get().address == PROXY
    assert request(client) == 200
    assert AuditEntry.objects.filter(action="logged_in", user_name="ada").count() == 1


@pytest.mark.parametrize("peer", ["10.0.0.6", "127.0.0.1", "192.0.2.1", ""])
def test_nobody_else_is_believed(peer: str, settings: Settings) -> None:
    # Not even those whose X-Forwarded-For is.
    settings.TRUSTED_PROXIES = ["127.0.0.0/8", "10.0.0.0/8"]
    assert request(Client(), peer=peer) == 302
    assert request(Client(), peer=peer, x_forwarded_for=PROXY) == 302
    assert not User.objects.exists()


def test_without_the_setting_no_header_is_looked_at(settings: Settings) -> None:
    client = Client()
    assert request(client) == 200
    settings.LOGIN_PROXY_HEADER = ""
    assert request(client) == 302


def test_a_session_ends_when_the_proxy_names_nobody_or_somebody_else() -> None:
    client = Client()
    request(client, "ada")
    assert request(client, None) == 302
    request(client, "ada")
    key = client.session.session_key
    assert request(client, "bob") == 200
    assert client.session.session_key != key
    assert UserSession.objects.get(session_key=client.session.session_key).user == User.objects.get(username="bob")
    assert not UserSession.objects.filter(session_key=key).exists()


def test_a_session_stolen_from_behind_the_proxy_opens_nothing_past_it() -> None:
    client = Client()
    request(client)
    assert request(client, "ada", peer="192.0.2.1") == 302


def test_a_key_given_before_is_not_the_key_of_the_session() -> None:
    client = Client()
    client.get("/login", REMOTE_ADDR="192.0.2.1")
    client.cookies["sessionid"] = planted = "p" * 32
    assert request(client) == 200
    assert client.cookies["sessionid"].value != planted


@pytest.mark.parametrize("name", ["a,b", "ada, root", "x" * 151, "a b", "<script>"])
def test_a_name_that_no_account_can_have_is_nobody(name: str) -> None:
    assert request(Client(), name) == 302
    assert not User.objects.exists()


def test_who_is_inactive_or_the_demo_is_not_let_in(settings: Settings) -> None:
    settings.DEMO = False
    for name in ("demo", "gone"):
        make_user(name, "a password")
    User.objects.filter(username="gone").update(is_active=False)
    assert [request(Client(), name) for name in ("demo", "gone")] == [302, 302]


def test_an_account_that_is_deactivated_is_out_at_once() -> None:
    client = Client()
    request(client)
    User.objects.update(is_active=False)
    assert request(client) == 302


def test_where_accounts_are_not_made_only_known_people_are_let_in(settings: Settings) -> None:
    settings.CREATE_USERS = False
    assert request(Client()) == 302
    assert not User.objects.exists()
    User.objects.create_user("ada")
    assert request(Client()) == 200


def test_an_account_with_a_password_is_its_owners_unless_names_are_trusted(settings: Settings) -> None:
    make_user("ada", "a password")
    assert request(Client()) == 302
    settings.TRUST_NAMES = True
    assert request(Client()) == 200


def test_programs_get_no_session_by_the_header() -> None:
    answer = Client().get("/api/v1/hosts", headers={"X-Forwarded-User": "ada"}, REMOTE_ADDR=PROXY)
    assert answer.status_code == 401
    assert not User.objects.exists()


def test_mail_address_and_role_come_with_the_log_in(settings: Settings) -> None:
    settings.LOGIN_PROXY_MAIL_HEADER = "X-Forwarded-Email"
    settings.LOGIN_PROXY_GROUPS_HEADER = "X-Forwarded-Groups"
    settings.GROUP_ROLES = {"netops": "operator", "lab leads": "admin"}
    request(Client(), x_forwarded_email="ada@example.org", x_forwarded_groups="staff, netops,lab leads")
    ada = User.objects.get()
    assert (ada.email, access_of(ada).everywhere) == ("ada@example.org", Role.ADMIN)
    # The last admin would stay one.
    User.objects.create_superuser("root")
    request(Client(), x_forwarded_email="no address", x_forwarded_groups="netops")
    ada = User.objects.get(username="ada")
    assert (ada.email, access_of(ada).everywhere) == ("ada@example.org", Role.OPERATOR)
    request(Client(), x_forwarded_groups="")
    assert not Grant.objects.exists()


def test_without_a_mapping_roles_are_the_dashboards_own(settings: Settings) -> None:
    settings.LOGIN_PROXY_GROUPS_HEADER = "X-Forwarded-Groups"
    ada = make_user("ada", "a password")
    Grant.objects.create(user=ada, role=Role.EDITOR)
    request(Client(), x_forwarded_groups="netops")
    assert Grant.objects.get().role == Role.EDITOR


def test_log_out_leads_to_where_the_proxy_ends_its_own_session(settings: Settings) -> None:
    settings.LOGOUT_REDIRECT_URL = "/oauth2/sign_out"
    client = Client()
    request(client)
    answer = client.post("/logout", headers={"X-Forwarded-User": "ada"}, REMOTE_ADDR=PROXY)
    assert answer["Location"] == "/oauth2/sign_out"


@pytest.mark.parametrize(
    ("values", "identifier"),
    [
        ({"LOGIN_PROXIES": []}, "benchweb.E022"),
        ({"LOGIN_PROXIES": ["0.0.0.0/0"]}, "benchweb.E021"),
        ({"LOGIN_PROXIES": ["proxy.example.org"]}, "benchweb.E021"),
        ({"GROUP_ROLES": {"netops": "king"}}, "benchweb.E020"),
        ({"GROUP_ROLES": {"": "admin"}}, "benchweb.E020"),
    ],
)
def test_a_setting_that_lets_in_too_many_stops_the_start(
    settings: Settings, values: dict[str, object], identifier: str
) -> None:
    assert settings_are_usable() == []
    for name, value in values.items():
        setattr(settings, name, value)
    assert [found.id for found in settings_are_usable()] == [identifier]


def test_wrong_roles_of_groups_leave_the_last_admin_one(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    ada = User.objects.create_user("ada")
    settings.TRUST_NAMES, settings.DEFAULT_ROLE = True, "viewer"
    settings.LOGIN_PROXY_GROUPS_HEADER = "X-Forwarded-Groups"
    settings.GROUP_ROLES = {"netops": "viewer"}
    Grant.objects.create(user=ada, role=Role.ADMIN)
    for groups in ("netops", "others"):
        assert request(Client(), "ada", x_forwarded_groups=groups) == 200
        assert access_of(User.objects.get(pk=ada.pk)).everywhere == Role.ADMIN
        assert request(Client(), "ada", x_forwarded_groups=groups) == 200
    assert caplog.text.count("the role of 'ada' stays as it is") == 2
    Grant.objects.create(user=User.objects.create_user("otto"), role=Role.ADMIN)
    request(Client(), "ada", x_forwarded_groups="netops")
    assert access_of(User.objects.get(pk=ada.pk)).everywhere == Role.VIEWER


def sent(text: str) -> str:
    """Return what Django makes of a header's UTF-8."""
    return text.encode().decode("latin-1")


@pytest.mark.parametrize("name", ["José", "张三", "Müller", "Ünal@例子.cn"])
def test_a_name_in_utf8_is_in_and_stays_in(name: str) -> None:
    client = Client()
    assert [request(client, sent(name)) for _ in range(3)] == [200] * 3
    assert User.objects.get().username == name
    assert AuditEntry.objects.filter(action="logged_in").count() == 1


def test_a_name_in_latin_1_is_one_too() -> None:
    assert request(Client(), "Müller") == 200
    assert User.objects.get().username == "Müller"


def test_the_servers_own_bytes_are_read_so() -> None:
    headers = [(b"x-forwarded-user", "张三".encode())]
    scope = {"type": "http", "method": "GET", "path": "/hosts", "query_string": b"", "client": (PROXY, 1)}
    assert named_user(ASGIRequest(scope | {"headers": headers}, BytesIO())) == "张三"


@pytest.mark.parametrize("spelling", ["ANN", "Ann", "ａｎｎ"])
def test_other_spellings_of_a_name_are_the_same_person(spelling: str) -> None:
    client = Client()
    request(client, "ann")
    assert [request(client, sent(spelling)) for _ in range(3)] == [200] * 3
    assert User.objects.get().username == "ann"
    assert AuditEntry.objects.filter(action="logged_in").count() == 2


def test_who_is_deactivated_gets_no_account_by_another_spelling(caplog: pytest.LogCaptureFixture) -> None:
    request(Client(), "ann")
    User.objects.update(is_active=False)
    for spelling in ("ANN", "ａｎｎ", "ann"):
        client = Client()
        assert [request(client, sent(spelling)) for _ in range(3)] == [302] * 3
    assert User.objects.count() == 1
    # Spellings are counted as one.
    assert caplog.text.count("is not let in: the account is deactivated") == 1


@pytest.mark.parametrize(("name", "word"), [("a b", "'a b'"), ("张 三", "张 三"), ("ann", "ann")])
def test_who_is_not_let_in_reads_why_and_the_log_has_it(
    name: str, word: str, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CREATE_USERS = False
    client = Client()
    for _ in range(3):
        page = client.get("/login", headers={"X-Forwarded-User": sent(name)}, REMOTE_ADDR=PROXY).content.decode()
    assert f"You are {name} to the proxy" in page
    assert caplog.text.count("is not let in") == 1


@pytest.fixture
def by_groups(settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"
    settings.LOGIN_PROXY_GROUPS_HEADER = "X-Forwarded-Groups"
    settings.GROUP_ROLES = {"netops": "operator", "leads": "admin", "lab, leads": "admin"}
    User.objects.create_superuser("root")


@pytest.mark.usefixtures("by_groups")
def test_a_role_follows_the_groups_at_every_request_and_tokens_with_it() -> None:
    client = Client()

    def page(groups: str) -> int:
        names = {"X-Forwarded-User": "ada", "X-Forwarded-Groups": groups}
        return client.get("/users", headers=names, REMOTE_ADDR=PROXY).status_code

    assert page("leads") == 200
    _token, secret = token_create(user=User.objects.get(username="ada"), name="ci")
    by_token = {"Authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/users", headers=by_token).status_code == 200
    assert page("netops") == 403
    assert client.get("/api/v1/users", headers=by_token).status_code == 403
    assert access_of(User.objects.get(username="ada")).everywhere == Role.OPERATOR
    assert page("") == 403
    assert access_of(User.objects.get(username="ada")).everywhere == Role.VIEWER
    assert page("leads") == 200


@pytest.mark.usefixtures("by_groups")
def test_what_the_proxy_says_again_costs_no_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    client = Client()
    request(client, x_forwarded_groups="netops")
    ada = User.objects.get(username="ada")
    read = with_grants(User.objects.filter(pk=ada.pk)).get()
    with django_assert_num_queries(0):
        groups_apply(user=read, groups=["netops"])


@pytest.mark.usefixtures("by_groups")
def test_a_part_of_a_groups_name_is_no_group() -> None:
    request(Client(), x_forwarded_groups="a\\, leads,netops")
    assert access_of(User.objects.get(username="ada")).everywhere == Role.OPERATOR
    request(Client(), x_forwarded_groups="lab\\, leads")
    assert access_of(User.objects.get(username="ada")).everywhere == Role.ADMIN


@pytest.mark.usefixtures("by_groups")
def test_groups_may_be_separated_otherwise(settings: Settings) -> None:
    settings.LOGIN_PROXY_GROUPS_SEPARATOR = "|"
    request(Client(), x_forwarded_groups="a, leads|netops")
    assert access_of(User.objects.get(username="ada")).everywhere == Role.OPERATOR
    request(Client(), x_forwarded_groups="staff|lab, leads")
    assert access_of(User.objects.get(username="ada")).everywhere == Role.ADMIN


def test_a_comma_may_be_in_a_group_of_the_setting() -> None:
    assert words(r"cn=leads\,dc=lab=admin, netops=operator") == ["cn=leads,dc=lab=admin", "netops=operator"]
