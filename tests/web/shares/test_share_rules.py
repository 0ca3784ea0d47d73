"""Who sees a link's address, what a token may make, what the site allows, who makes a live view, what is forgotten."""

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role
from benchweb.accounts.services import TokenLimits, token_create
from benchweb.accounts.throttle import PAIR_ATTEMPTS
from benchweb.documents.document import Document
from benchweb.hosts.models import Pair
from benchweb.sharing.frozen_views import pages_at
from benchweb.sharing.live import MADE_ANEW
from benchweb.sharing.models import LivePage, Share, SharePart
from benchweb.sharing.services import expired_content_remove, share_create, view_share_create
from benchweb.site.models import SiteSetting
from benchweb.site.values import chosen
from benchweb.web.view_shares import building
from tests.api.conftest import ApiClient, Refused
from tests.factories import make_pair, make_run
from tests.sharing.scene import shared, told_run

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse 7"  # pragma: allowlist secret


@pytest.fixture
def pair() -> Pair:
    return make_pair(environment="lab")


@pytest.fixture
def olga(pair: Pair, settings: Settings) -> User:
    """An operator of the environment lab, who only reads the others."""
    settings.DEFAULT_ROLE = "viewer"
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=pair.environment)
    return olga


@pytest.fixture
def boss() -> User:
    return User.objects.create_superuser("boss")


def pages_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def api_of(user: User, **limits: object) -> ApiClient:
    return ApiClient(token_create(user=user, name="script", limits=TokenLimits(**limits))[1])  # type: ignore[arg-type]


def live_link(pair: Pair, user: User | None, **fields: object) -> str:
    path = f"/pairs/{pair.pk}"
    _share, token = view_share_create(
        path=path,
        zone="UTC",
        pages=pages_at(path, "UTC"),
        user=user,
        is_live=True,
        expires_at=timezone.now() + timedelta(days=1),
        **fields,  # type: ignore[arg-type]
    )
    return f"/s/{token}"


def forbid(name: str) -> None:
    SiteSetting.objects.create(name=name, value="forbidden")
    chosen.read_now()


def test_a_links_address_is_told_only_to_who_may_make_such_a_link(pair: Pair, olga: User, boss: User) -> None:
    field = make_run(pair=make_pair(environment="field"))
    ours, theirs = shared(make_run(pair=pair)), shared(field)
    view = live_link(pair, boss)
    links = {"ours": ours[1], "theirs": theirs[1], "view": view}

    def seen(text: str) -> set[str]:
        return {name for name, path in links.items() if path in text}

    addresses = [f"/runs/{ours[0].run_id}/shares", f"/runs/{field.pk}/shares", f"/share?path=/pairs/{pair.pk}"]
    assert seen("".join(pages_of(olga).get(path).content.decode() for path in addresses)) == {"ours"}
    assert seen(api_of(olga).get("/shares").content.decode()) == {"ours"}
    assert "Only those who may make such a link see its address." in pages_of(olga).get(addresses[1]).content.decode()
    assert seen("".join(pages_of(boss).get(path).content.decode() for path in addresses)) == {*links}
    assert seen(api_of(boss).get("/shares").content.decode()) == {*links}
    reader = api_of(boss, scope="read")
    assert seen(reader.get("/shares").content.decode()) == set()
    item = reader.get(f"/shares/{ours[0].pk}").json()
    assert (item["url"], item["link"], item["run"]) == ("", "", ours[0].run_id)


def test_a_link_ends_no_later_than_the_token_that_makes_it(pair: Pair, boss: User, refused: Refused) -> None:
    run, end = make_run(pair=pair).pk, timezone.now() + timedelta(days=2)
    script = api_of(boss, scope="run", expires_at=end)
    for body in ({"expires_at": None}, {"expires_at": (end + timedelta(seconds=1)).isoformat()}):
        assert "This token ends at" in refused(script.post("/shares", {"run": run} | body), 403, "expires_at")
        view = {"path": "/history", "is_live": True}
        refused(script.post("/shares", view | body), 403, "expires_at")
    assert Share.objects.count() == 0
    assert script.post("/shares", {"run": run}).status_code == 201
    assert Share.objects.get().expires_at == end
    soon = timezone.now() + timedelta(hours=1)
    assert script.post("/shares", {"path": "/history", "expires_at": soon.isoformat()}).status_code == 201
    assert Share.objects.latest("pk").expires_at == soon


def test_a_token_of_some_networks_makes_no_link_that_opens_from_anywhere(
    pair: Pair, boss: User, refused: Refused
) -> None:
    bound = api_of(boss, networks=["127.0.0.0/8"])
    for body in ({"run": make_run(pair=pair).pk}, {"path": "/history"}, {"path": "/history", "password": PASSWORD}):
        assert "bound to 127.0.0.0/8: it can't make a link" in refused(bound.post("/shares", body), 403)
    assert Share.objects.count() == 0


@pytest.mark.parametrize(
    ("setting", "paused", "field"),
    [
        ("SHARE_LINKS", {"run", "live", "endless"}, ""),
        ("SHARE_LIVE", {"live"}, "is_live"),
        ("SHARE_ENDLESS", {"endless"}, "expires_at"),
    ],
)
def test_links_follow_what_the_site_allows_and_say_so(
    pair: Pair, boss: User, refused: Refused, setting: str, paused: set[str], field: str
) -> None:
    run = make_run(pair=pair)
    end = timezone.now() + timedelta(days=3)
    links = {"run": shared(run, expires_at=end)[1], "endless": shared(run)[1], "live": live_link(pair, boss)}
    assert {Client().get(path).status_code for path in links.values()} == {200}
    forbid(setting)
    for name, path in links.items():
        answer = Client().get(path)
        assert answer.status_code == (403 if name in paused else 200), name
        badge = Client().get(f"{path}/badge.svg").content.decode()
        assert ("link paused" in badge) is (name in paused)
        if name in paused:
            assert "This site allows no" in answer.content.decode()
            assert "The link is switched off" in answer.content.decode()
    lists = [f"/runs/{run.pk}/shares", f"/share?path=/pairs/{pair.pk}"]
    texts = "".join(pages_of(boss).get(path).content.decode() for path in lists)
    assert texts.count("Switched off:") == len(paused)
    items = api_of(boss).get("/shares").json()["items"]
    assert sorted(filter(None, (item["paused"] for item in items))) == len(paused) * [
        setting.removeprefix("SHARE_").lower()
    ]
    wanted = {"path": "/history", "is_live": True} if setting == "SHARE_LIVE" else {"run": run.pk, "expires_at": None}
    message = refused(api_of(boss).post("/shares", wanted), 422 if field else 409, field)
    assert "This site allows no" in message
    form = {"path": f"/pairs/{pair.pk}", "shows": "live", "lasts": "never", "password": ""}
    assert pages_of(boss).post("/share", form).status_code == 200
    assert Share.objects.count() == 3
    SiteSetting.objects.all().delete()
    chosen.read_now()
    assert {Client().get(path).status_code for path in links.values()} == {200}


def test_where_links_must_end_they_do_by_default(pair: Pair, boss: User, settings: Settings) -> None:
    settings.SHARE_DAYS = 0
    forbid("SHARE_ENDLESS")
    assert api_of(boss).post("/shares", {"run": make_run(pair=pair).pk}).status_code == 201
    expires_at = Share.objects.get().expires_at
    assert expires_at is not None
    assert timedelta(days=29) < expires_at - timezone.now() < timedelta(days=31)
    assert "never (until revoked)" not in pages_of(boss).get(f"/share?path=/pairs/{pair.pk}").content.decode()


def test_a_live_link_goes_on_as_long_as_its_maker_may_make_it(pair: Pair, settings: Settings) -> None:
    settings.DEFAULT_ROLE = "viewer"
    mira = User.objects.create_user("mira")
    grant = Grant.objects.create(user=mira, role=Role.OPERATOR)
    live = live_link(pair, mira)
    _share, token = share_create(run=told_run(), user=mira)
    frozen = f"/s/{token}"
    assert [Client().get(path).status_code for path in (live, frozen)] == [200, 200]
    grant.delete()
    answer = Client().get(live)
    assert (answer.status_code, Client().get(frozen).status_code) == (403, 200)
    assert "no longer has the right to share this view" in answer.content.decode()
    Grant.objects.create(user=mira, role=Role.OPERATOR)
    assert Client().get(live).status_code == 200
    User.objects.filter(pk=mira.pk).update(is_active=False)
    assert [Client().get(path).status_code for path in (live, frozen)] == [403, 200]


@pytest.mark.django_db(transaction=True)
def test_many_strangers_make_a_live_view_once(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    path = live_link(pair, None)
    first = LivePage.objects.get(language="en").page
    LivePage.objects.update(tried_at=timezone.now() - MADE_ANEW)
    made, ready, answers = [], threading.Barrier(8), []
    others_done = threading.Event()

    def built(*where: str) -> Document:
        # The one who makes it is at it until all others have their answer.
        made.append(where)
        others_done.wait(60)
        return real(*where)

    def open_it() -> None:
        ready.wait()
        answers.append(Client().get(path).status_code)
        if len(answers) == 7:
            others_done.set()
        connection.close()

    real = building.built
    monkeypatch.setattr("benchweb.web.view_shares.views.built", built)
    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (answers, len(made)) == ([200] * 8, 1)
    row = LivePage.objects.get(language="en")
    assert row.page and first and row.page["made_at"] > first["made_at"]
    # Within the minute nobody makes it.
    assert Client().get(path).status_code == 200
    assert len(made) == 1


def test_a_live_view_that_fails_to_be_made_is_shown_as_it_was_and_tried_once_a_minute(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tries = live_link(pair, None), []

    def built(*where: str) -> Document:
        tries.append(where)
        raise RuntimeError("too slow")

    monkeypatch.setattr("benchweb.web.view_shares.views.built", built)
    LivePage.objects.update(tried_at=timezone.now() - MADE_ANEW)
    stranger = Client(raise_request_exception=False)
    assert [stranger.get(path).status_code for _ in range(3)] == [500, 200, 200]
    assert len(tries) == 1
    # A link of before these pages were stored has none to show meanwhile.
    LivePage.objects.update(page=None)
    answer = stranger.get(path)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Reload the page in a few seconds." in answer.content.decode()
    assert stranger.get(f"{path}/badge.svg").status_code == 404


@pytest.mark.usefixtures("one_window")
def test_the_right_password_is_taken_however_often_it_is_given() -> None:
    _share, token = share_create(run=told_run(), user=None, password=PASSWORD)
    answers = [Client().post(f"/s/{token}/unlock", {"password": PASSWORD}) for _ in range(PAIR_ATTEMPTS + 2)]
    assert {answer.status_code for answer in answers} == {302}
    # Wrong ones are counted as before, with right ones between them.
    guesses = []
    for number in range(PAIR_ATTEMPTS + 1):
        guesses.append(Client().post(f"/s/{token}/unlock", {"password": f"wrong {number}"}).status_code)
        if number == 3:
            Client().post(f"/s/{token}/unlock", {"password": PASSWORD})
    assert guesses == [403] * PAIR_ATTEMPTS + [429]


def test_what_an_expired_link_showed_is_removed_and_its_row_stays(pair: Pair) -> None:
    run = told_run()
    frozen, live, lasting = shared(run), live_link(pair, None), shared(run)
    assert SharePart.objects.filter(share=frozen[0]).exists()
    Share.objects.exclude(pk=lasting[0].pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "what it showed is deleted" not in Client().get(frozen[1]).content.decode()
    assert expired_content_remove() == 1
    for path in (frozen[1], live):
        answer = Client().get(path)
        assert answer.status_code == 410
        assert "This link has expired and what it showed is deleted." in answer.content.decode()
    assert Share.objects.count() == 3
    assert {part.share_id for part in SharePart.objects.all()} == {lasting[0].pk}
    assert (LivePage.objects.count(), Share.objects.get(pk=frozen[0].pk).page) == (0, None)
    assert Client().get(lasting[1]).status_code == 200
    assert AuditEntry.objects.filter(table="sharing_share", object_id=frozen[0].pk, action="created").exists()
    assert expired_content_remove() == 0
