"""What a share link opens: exactly what was frozen, for anyone who has it, as long as it holds."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone, translation
from pytest_django import DjangoAssertNumQueries

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.documents.hidden import host_pseudonym
from benchweb.hosts.models import Facts
from benchweb.plans.models import Plan
from benchweb.results.models import Result
from benchweb.runs.events import event_add
from benchweb.runs.models import Run, RunEvent, State, Trial
from benchweb.sharing.models import Share
from benchweb.sharing.services import TOKEN_BYTES, ShareError, share_create, share_revoke
from benchweb.web.facts.diff import facts_side_by_side
from tests.sharing.scene import SECRETS, named, rename_everything, secrets_in, shared, texts_of, told_run

pytestmark = pytest.mark.django_db
CHINESE = re.compile(r"[\u4e00-\u9fff]")
PARTS = ("", "/results.csv", "/results.json", "/results.md", "/embed", "/badge.svg")


@pytest.fixture
def run() -> Run:
    return told_run()


def charts_of(page: str) -> list[dict[str, Any]]:
    """Return the charts that a shared page draws."""
    found = re.search(r'id="charts-data" type="application/json">(.*?)</script>', page)
    assert found
    charts: list[dict[str, Any]] = json.loads(found[1])
    return charts


def named_events(path: str) -> list[str]:
    """Return the events that a share's page tells."""
    page = Client().get(path).content.decode()
    return re.findall(r"</time></span><span>(.*?)</span></li>", page)


def test_a_token_has_192_random_bits_and_the_table_holds_its_digest_only(run: Run) -> None:
    links = [shared(run) for _ in range(20)]
    tokens = {path.removeprefix("/s/") for _, path in links}
    assert (TOKEN_BYTES, len(tokens)) == (24, 20)
    assert {len(token) for token in tokens} == {32}
    # Every place takes many values: no part of a token is a counter, a time or an id.
    assert all(len({token[place] for token in tokens}) > 5 for place in range(32))
    stored = json.dumps([str(row) for row in Share.objects.values_list()])
    assert not any(token in stored for token in tokens)


def test_anyone_sees_the_run_without_a_log_in_and_gets_no_cookie(run: Run) -> None:
    _, path = shared(run)
    answer = Client().get(path)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "nightly of quartz" in page
    assert "2 of 3 trials finished, 1 failed." in page
    assert "Quartz" in page
    assert re.search(r"2\.00<span class=\"unit\"> Gbit/s", page)
    assert not answer.cookies


def test_what_a_host_does_not_tell_is_said_in_the_readers_language() -> None:
    facts = {"kernel": "host", "missing": ["speed of eth0: the driver tells none"]}
    with translation.override("zh-hans"):
        context = {"facts": facts_side_by_side(facts, facts), "frozen": {"source": "a", "sink": "b"}}
        page = render_to_string("shares/partials/shared_facts.html", context)
    assert page.count("<td>eth0 的速率：驱动未提供</td>") == 2
    assert page.count("<td>host</td>") == 2


def test_a_shared_page_leads_nowhere_else(run: Run) -> None:
    _, path = shared(run)
    page = Client().get(path).content.decode()
    links = re.findall(r'(?:href|src|action|hx-get|data-charts)="([^"]*)"', page)
    assert {link for link in links if not link.startswith(("/static/", "data:"))} == {
        f"{path}/results.csv",
        f"{path}/results.csv?bom=1",
        f"{path}/results.json",
        f"{path}/results.md",
    }
    assert "<form" not in page
    assert "<nav" not in page
    charts = charts_of(page)
    assert {point["href"] for chart in charts for line in chart["series"] for point in line["points"]} == {""}


def test_the_link_stays_private(run: Run) -> None:
    _, path = shared(run)
    for part in PARTS:
        answer = Client().get(path + part)
        assert answer["X-Robots-Tag"] == "noindex, nofollow, noarchive"
        assert answer["Referrer-Policy"] == "no-referrer"
        assert answer["Cache-Control"] == "private, no-store"
        assert "default-src 'none'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize("method", ["post", "put", "delete", "options"])
def test_whoever_sends_something_is_refused_as_privately(run: Run, method: str) -> None:
    share, path = shared(run)
    stranger = Client(enforce_csrf_checks=True)
    for part in (*PARTS, "/1"):
        answer = getattr(stranger, method)(path + part)
        assert (answer.status_code, answer.content) == ((405, b"") if part != "/1" else (404, answer.content))
        assert (answer["Referrer-Policy"], answer["Cache-Control"]) == ("no-referrer", "private, no-store")
        assert not answer.cookies
    share.refresh_from_db()
    assert (share.opened, share.revoked_at) == (0, None)


def test_only_the_embed_may_be_framed(run: Run) -> None:
    _, path = shared(run)
    for part in PARTS:
        answer = Client().get(path + part)
        is_framed = part == "/embed"
        assert ("frame-ancestors *" in answer["Content-Security-Policy"]) is is_framed
        assert answer.get("X-Frame-Options") == (None if is_framed else "DENY")


def test_a_link_that_has_ended_says_so_in_the_frame_that_had_its_chart(run: Run) -> None:
    share, path = shared(run)
    share_revoke(share_id=share.pk)
    answer = Client().get(f"{path}/embed")
    assert answer.status_code == 410
    assert "frame-ancestors *" in answer["Content-Security-Policy"]
    assert "X-Frame-Options" not in answer
    assert "frame-ancestors 'none'" in Client().get(path)["Content-Security-Policy"]


def test_a_share_is_frozen_whatever_happens_to_what_it_shows(run: Run) -> None:
    _, path = shared(run)
    before = texts_of(path, Client())
    rename_everything()
    Plan.objects.update(name="renamed-plan")
    Result.objects.update(metrics={"throughput_bps": 1.0}, document={})
    Trial.objects.update(state=State.CANCELLED, reason="renamed-reason")
    RunEvent.objects.all().delete()
    Run.objects.update(state=State.CANCELLED, reason="renamed-reason")
    assert texts_of(path, Client()) == before


@pytest.mark.parametrize("language_of_sharer", ["en", "zh-hans"])
def test_a_share_is_wholly_in_its_readers_language_whatever_the_sharers(run: Run, language_of_sharer: str) -> None:
    with translation.override(language_of_sharer):
        _, path = shared(run)
    english, chinese = (texts_of(path, Client(headers={"accept-language": code})) for code in ("en", "zh-hans"))
    for part in ("", "/embed"):
        words = [word for chart in charts_of(chinese[part]) for word in (chart["title"], chart["y"]["label"])]
        assert words
        assert all(CHINESE.search(word) for word in words)
    assert "3 个测试项中 2 个已完成，1 个失败。" in chinese[""]
    assert "路径：丢包或排队。" in chinese[""]
    assert "吞吐量（接收）" in chinese["/badge.svg"]
    assert not CHINESE.search("".join(english.values()))
    # What programs read is the same for all.
    assert (chinese["/results.csv"], chinese["/results.json"]) == (english["/results.csv"], english["/results.json"])


def test_a_share_that_has_not_the_readers_language_is_shown_in_english(run: Run) -> None:
    share, path = shared(run)
    share.refresh_from_db()
    assert share.page is not None
    Share.objects.update(page={"en": share.page["en"]})
    page = Client(headers={"accept-language": "zh-hans"}).get(path).content.decode()
    assert "Throughput" in charts_of(page)[0]["title"]


def test_a_run_that_was_shared_by_an_earlier_version_opens_as_it_was(run: Run) -> None:
    share, path = shared(run)
    share.refresh_from_db()
    assert share.page is not None
    for page in share.page.values():
        page["verdict"] |= {"state": "failed", "reason": "as it was", "counts": {"finished": 2}, "total": 3}
        for headline in (*page["verdict"]["headlines"], *page["figures"]):
            del headline["extremes"], headline["loss"]
        del page["is_synthetic"], page["facts_note"]
    share.save()
    texts = texts_of(path, Client())
    for part in ("", "/results.md"):
        assert "2 of 3 trials finished, 1 failed." in texts[part]
    assert "2.00 Gbit/s · n=1" in texts["/badge.svg"]
    assert charts_of(texts["/embed"])[0]["title"] in texts["/results.md"]


def test_a_share_outlives_its_run(run: Run) -> None:
    share, path = shared(run)
    before = texts_of(path, Client())
    Trial.objects.all().delete()
    Run.objects.all().delete()
    assert texts_of(path, Client()) == before
    share.refresh_from_db()
    assert share.run_id is None


def test_an_anonymised_share_tells_no_name_and_no_address_anywhere(run: Run) -> None:
    _, path = shared(run, anonymise=True)
    _, named_path = shared(run)
    told = "".join(texts_of(named_path, Client()).values())
    # The scene does tell them all, but those that no report has.
    assert set(secrets_in(told)) == set(SECRETS)
    for part, text in texts_of(path, Client()).items():
        assert secrets_in(text) == [], part
        assert secrets_in(json.dumps(text)) == [], part


def test_an_anonymised_share_leaves_free_texts_out_and_keeps_what_reasons_count(run: Run) -> None:
    host = run.pair.source.host
    event_add(run_id=run.pk, text="quartz and what it was called before")
    event_add(run_id=run.pk, text=Reason("host_unreachable", host=host.name, since="12:00 UTC"))
    event_add(run_id=run.pk, text=Reason("host_unreachable", host="its former name", since="12:00 UTC"))
    Run.objects.filter(pk=run.pk).update(**reason_fields("reason", Reason("trials_failed", failed=1, total=3)))
    _, path = shared(run, anonymise=True)
    gone = "host {host} has given no valid answer since 12:00 UTC"
    assert named_events(path) == [gone.format(host=host_pseudonym(host.pk)), gone.format(host="…")]
    document = json.loads(texts_of(path, Client())["/results.json"])
    assert (document["reason"], document["reason_code"]) == ("1 of 3 trials failed", "trials_failed")
    assert [trial["reason"] for trial in document["trials"]] == ["", "", "…"]


def test_an_anonymised_share_has_the_same_pseudonyms_everywhere_and_the_same_figures(run: Run) -> None:
    _, path = shared(run, anonymise=True)
    texts = texts_of(path, Client())
    document = json.loads(texts["/results.json"])
    source, sink = (document["pair"][end]["name"] for end in ("source", "sink"))
    assert re.fullmatch(r"host-[a-z2-7]{5} \(endpoint-[a-z2-7]{5}\)", source)
    assert re.fullmatch(r"host-[a-z2-7]{5} \(host\)", sink)
    assert source != sink
    assert source.partition(" ")[0] in texts[""]
    assert f"{document['plan']['name']} · {source}" in texts["/embed"]
    assert re.fullmatch(r"plan-[a-z2-7]{5}", document["plan"]["name"])
    assert [trial["metrics"].get("throughput_bps") for trial in document["trials"]] == [1e9, 2e9, None]
    again = json.loads(texts_of(shared(run, anonymise=True)[1], Client())["/results.json"])
    assert again["pair"]["source"]["name"] == source


def test_an_anonymised_share_has_no_ids_of_the_dashboard(run: Run) -> None:
    _, path = shared(run, anonymise=True)
    texts = texts_of(path, Client())
    document = json.loads(texts["/results.json"])
    assert (document["run"], document["plan"]["id"], document["pair"]["id"]) == (None, None, None)
    ends = [document["pair"][end][part] for end in ("source", "sink") for part in ("host", "endpoint")]
    assert [*ends, document["pair"]["environment"]["id"]] == [None] * 5
    assert [line.split(",")[-6:] for line in texts["/results.csv"].splitlines()[1:]] == [[""] * 6] * 3
    assert [trial["trial"] for trial in document["trials"]] == [1, 2, 3]
    assert set(document["facts"]) == {"1", "2"}
    assert f"Run {run.pk}" not in texts[""]
    assert [line.split(",")[:3] for line in texts["/results.csv"].splitlines()[1:]] == [
        ["", "1", "1"],
        ["", "2", "2"],
        ["", "3", "3"],
    ]


def test_an_unknown_token_is_404_and_says_so(run: Run) -> None:
    _, path = shared(run)
    for guess in (path[:-1], path + "x", "/s/" + "A" * 32):
        for part in PARTS:
            answer = Client().get(guess + part)
            assert answer.status_code == 404
            assert secrets_in(answer.content.decode()) == []
    assert "There is no report at this address." in Client().get("/s/guess").content.decode()


def test_a_token_opens_nothing_but_its_own_report(run: Run) -> None:
    _, path = shared(run)
    for beside in ("/1", "/trials/1", "/events", "/charts.json", "/runs", "/../runs", "/search", "/search?q=demo"):
        assert Client().get(path + beside).status_code == 404
    assert Client().get(f"/runs/{run.pk}?share={path.removeprefix('/s/')}").status_code == 302
    assert Client().get(f"/runs/{run.pk}/badge.svg").status_code == 302
    assert Client().post(path).status_code == 405


def test_a_revoked_link_is_410_with_a_sentence_and_its_content_is_gone(run: Run) -> None:
    share, path = shared(run)
    assert share_revoke(share_id=share.pk)
    for part in PARTS:
        answer = Client().get(path + part)
        assert answer.status_code == 410
        assert secrets_in(answer.content.decode()) == []
    assert "This link was revoked" in Client().get(path).content.decode()
    share.refresh_from_db()
    assert (share.page, share.parts.count()) == (None, 0)
    assert not share_revoke(share_id=share.pk)


def test_an_expired_link_is_410_with_a_sentence(run: Run) -> None:
    share, path = shared(run, expires_at=timezone.now() + timedelta(hours=1))
    assert Client().get(path).status_code == 200
    Share.objects.filter(pk=share.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    for part in PARTS:
        assert Client().get(path + part).status_code == 410
    assert "This link has expired." in Client().get(path).content.decode()


def test_openings_are_counted_while_the_link_holds(run: Run) -> None:
    share, path = shared(run)
    Client().get(path)
    Client().get(path + "/embed")
    Client().head(path)
    Client().get(path + "/badge.svg")
    # As a wall comes again by itself.
    Client().get(path, {"again": "1"})
    share.refresh_from_db()
    assert share.opened == 2
    assert share.last_opened_at is not None
    assert timezone.now() - share.last_opened_at < timedelta(minutes=1)
    share_revoke(share_id=share.pk)
    Client().get(path)
    share.refresh_from_db()
    assert share.opened == 2


def test_a_link_that_would_have_expired_already_is_refused_and_nothing_is_kept(run: Run) -> None:
    with pytest.raises(ShareError, match="expired already"):
        share_create(run=named(run), user=None, expires_at=timezone.now() - timedelta(seconds=1))
    assert Share.objects.count() == 0


def test_a_shared_page_costs_two_queries_whatever_it_shows(
    run: Run, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    _, path = shared(run)
    with django_assert_num_queries(2):
        Client().get(path)


def test_the_preview_of_a_link_tells_what_the_page_tells_and_of_a_run_nothing(run: Run) -> None:
    _, path = shared(run, anonymise=True)
    page = Client().get(path).content.decode()
    previews = re.findall(r'<meta property="og:[a-z_]+" content="([^"]*)"', page)
    assert len(previews) == 4
    assert secrets_in(" ".join(previews)) == []
    # With nobody at all it would lead to the page of the first admin.
    User.objects.create_user("ada")
    stranger = Client().get(f"/runs/{run.pk}", follow=True).content.decode()
    assert '<meta property="og:title" content="benchweb">' in stranger
    assert secrets_in(stranger) == []
    # Whether there is such a run is not told either.
    nothing = Client().get("/runs/999999", follow=True).content.decode()
    tokens = re.compile(r"\b[A-Za-z0-9]{64}\b")
    assert tokens.sub("", nothing.replace("999999", str(run.pk))) == tokens.sub("", stranger)


def test_a_badge_tells_value_spread_and_repetitions_of_any_metric(run: Run) -> None:
    _, path = shared(run)
    badge = Client().get(path + "/badge.svg")
    assert badge["Content-Type"] == "image/svg+xml"
    text = badge.content.decode()
    assert 'aria-label="TCP stream: throughput, received: 2.00 Gbit/s · n=1 · 16 KiB · 1 note"' in text
    # What the note says is the picture's title.
    found = re.search("<title>[^<\n]*&#10;([^<]*)</title>", text)
    assert found
    assert found[1] in Client().get(path).content.decode()
    assert "retransmits: 3 segments · n=1" in Client().get(path + "/badge.svg?metric=retransmits").content.decode()
    missing = Client().get(path + "/badge.svg?metric=jitter_seconds")
    assert (missing.status_code, "— not measured" in missing.content.decode()) == (404, True)
    hostile = Client().get(path + "/badge.svg", {"metric": '"><script>'}).content.decode()
    assert "<script" not in hostile
    control = Client().get(path + "/badge.svg?metric=%01a%1F%0A").content.decode()
    assert ">a</text>" in control
    assert control.strip().isprintable()


def test_an_embed_has_the_one_chart_that_was_asked_for(run: Run) -> None:
    _, path = shared(run)
    page = Client().get(path).content.decode()
    ids = [chart["id"] for chart in charts_of(page)]
    second = Client().get(f"{path}/embed?chart={ids[1]}").content.decode()
    assert [chart["id"] for chart in charts_of(second)] == [ids[1]]
    assert Client().get(f"{path}/embed?chart=nothing").status_code == 404


@pytest.mark.parametrize(("query", "asked"), [("?theme=dark", True), ("", False), ("?theme=%22onload=alert(1)", False)])
def test_an_embed_is_light_or_dark_as_its_address_says(run: Run, query: str, asked: bool) -> None:
    text = Client().get(f"{shared(run)[1]}/embed{query}").content.decode()
    assert ('data-asked-theme="dark"' in text) is asked
    assert "onload" not in text


@pytest.mark.parametrize("path", ["/s", "/s/"])
def test_a_link_without_its_token_leads_to_the_same_nothing(path: str) -> None:
    answer = Client().get(path)
    assert (answer.status_code, "No such link" in answer.content.decode()) == (404, True)
    assert "topbar" not in answer.content.decode()


@pytest.mark.parametrize("rest", ["/", "/search", "/runs/1", "/results.csv/", "/document.json"])
def test_what_is_tried_below_a_link_shows_no_navigation_and_sets_no_cookie(run: Run, rest: str) -> None:
    _, path = shared(run)
    stranger = Client()
    answer = stranger.get(path + rest)
    text = answer.content.decode()
    assert (answer.status_code, "No such link" in text) == (404, True)
    assert not stranger.cookies
    assert "topbar" not in text
    assert path.removeprefix("/s/") not in text
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Robots-Tag"].startswith("noindex")


def test_a_chart_that_is_not_there_counts_as_no_opening(run: Run) -> None:
    share, path = shared(run)
    Client().get(path + "/embed?chart=nothing")
    share.refresh_from_db()
    assert share.opened == 0


def test_two_hosts_on_one_machine_are_not_called_by_each_others_pseudonym(run: Run) -> None:
    facts = Facts.objects.first()
    assert facts is not None
    Facts.objects.update(document=facts.document | {"hostname": "one-machine"})
    page = Client().get(shared(run, anonymise=True)[1]).content.decode()
    called = set(re.findall(r"machine-[a-z2-7]{5}", page))
    assert len(called) == 1
    assert "one-machine" not in page


def test_a_badge_of_made_up_figures_says_so(run: Run) -> None:
    path = shared(run)[1]
    assert "synthetic" not in Client().get(path + "/badge.svg").content.decode()
    type(run.pair.source.host).objects.filter(pk=run.pair.source.host_id).update(is_synthetic=True)
    path = shared(run)[1]
    assert "sample · TCP stream: throughput" in Client().get(path + "/badge.svg").content.decode()


@pytest.mark.parametrize("anonymise", [False, True])
def test_ends_of_unlike_mtu_and_the_meaning_of_the_figures_are_told(run: Run, anonymise: bool) -> None:
    for end, mtu in (("source", 9000), ("sink", 1500)):
        for trial in run.trials.exclude(result=None):
            facts = getattr(trial.result, f"{end}_facts")
            facts.document = facts.document | {"interfaces": [{"name": "eth0", "mtu": mtu}]}
            facts.save()
    _, path = shared(run, anonymise=anonymise)
    page = Client().get(path).content.decode()
    assert "the MTU is 9000 B at the source and 1500 B at the sink" in page
    assert "is the largest deviation from it" in page
