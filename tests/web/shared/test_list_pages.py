"""Lists of many pages: back and forth, how many rows there are in all, and the days of launch."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.runs.models import Campaign, Run
from benchweb.web.shared import lists as listing
from benchweb.web.shared.lists import PAGE_SIZE, Listing
from tests.factories import make_run

pytestmark = pytest.mark.django_db
MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.fixture
def reader(client: Client, django_user_model: type[User]) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


@pytest.fixture
def campaigns() -> list[int]:
    """Return the ids of 120 campaigns, the newest first."""
    version = make_run().plan_version
    Campaign.objects.bulk_create(Campaign(plan_version=version) for _ in range(119))
    return list(Campaign.objects.order_by("-pk").values_list("pk", flat=True))


def page_of(reader: Client, url: str) -> Listing[Campaign]:
    page = reader.get(f"/campaigns{url}").context["page"]
    assert isinstance(page, Listing)
    return page


def shown(page: Listing[Campaign]) -> list[int]:
    return [row.pk for row in page.rows]


@pytest.mark.parametrize("sort", ["", "pk", "plan_version__plan__name", "-created_at"])
def test_previous_pages_are_the_ones_that_were_left(reader: Client, campaigns: list[int], sort: str) -> None:
    pages = [page_of(reader, f"?sort={sort}")]
    while pages[-1].next_url:
        pages.append(page_of(reader, pages[-1].next_url))
    assert sorted(pk for page in pages for pk in shown(page)) == sorted(campaigns)
    assert pages[0].previous_url == pages[0].first_url == ""
    back = [pages[-1]]
    while back[-1].previous_url:
        back.append(page_of(reader, back[-1].previous_url))
    assert [shown(page) for page in back] == [shown(page) for page in reversed(pages)]
    assert shown(page_of(reader, back[1].next_url)) == shown(pages[-1])
    assert shown(page_of(reader, back[1].first_url)) == shown(pages[0])


def test_a_long_list_says_how_many_rows_it_has(
    reader: Client, campaigns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "120 in total" in reader.get("/campaigns").content.decode()
    monkeypatch.setattr(listing, "MOST_COUNTED", 119)
    answer = reader.get("/campaigns")
    assert answer.context["page"].total is None
    assert "more than 119 in total" in answer.content.decode()


@pytest.mark.parametrize("cursor", ["before=x", "before=999999999999999999999", "after=x"])
def test_a_cursor_that_is_none_gives_the_first_page(reader: Client, campaigns: list[int], cursor: str) -> None:
    page = page_of(reader, f"?{cursor}")
    assert shown(page) == campaigns[:PAGE_SIZE]
    assert page.previous_url == ""


def test_a_cursor_whose_row_is_gone_gives_the_first_page(reader: Client, campaigns: list[int]) -> None:
    page = page_of(reader, f"?sort=created_at&before={campaigns[0] + 1}")
    assert len(shown(page)) == PAGE_SIZE
    assert page.previous_url == ""


@pytest.mark.parametrize("path", ["runs", "campaigns"])
@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("from=2026-03-10", [2, 1]),
        ("to=2026-03-10", [1, 0]),
        ("from=2026-03-10&to=2026-03-10", [1]),
        ("from=2026-03-11&to=2026-03-10", []),
        ("from=yesterday", []),
        ("to=2026-02-31", []),
    ],
)
def test_days_of_launch_are_kept_both_included(reader: Client, path: str, query: str, places: list[int]) -> None:
    # The last moment before the day, its last moment, and the next day's first.
    moments = (
        MIDNIGHT - timedelta(seconds=1),
        MIDNIGHT + timedelta(hours=23, minutes=59),
        MIDNIGHT + timedelta(days=1),
    )
    ids = []
    for moment in moments:
        run = make_run()
        Run.objects.filter(pk=run.pk).update(created_at=moment)
        Campaign.objects.filter(pk=run.campaign_id).update(created_at=moment)
        ids.append(run.pk if path == "runs" else run.campaign_id)
    context = reader.get(f"/{path}?{query}").context
    assert [row.pk for row in context["listing" if path == "runs" else "page"].rows] == [ids[place] for place in places]


def test_days_are_those_of_the_readers_zone(reader: Client) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(created_at=MIDNIGHT - timedelta(hours=1))
    reader.cookies["zone"] = "Asia/Shanghai"
    assert len(reader.get("/runs?from=2026-03-10").context["rows"]) == 1
    reader.cookies["zone"] = "UTC"
    assert len(reader.get("/runs?from=2026-03-10").context["rows"]) == 0


def test_campaigns_of_a_plan_are_one_filter(reader: Client) -> None:
    wanted, _other = make_run(name="wanted"), make_run(name="other")
    page = page_of(reader, f"?plan={wanted.plan_version.plan_id}")
    assert shown(page) == [wanted.campaign_id]
    assert "No campaign matches these filters." in reader.get("/campaigns?plan=0").content.decode()


def test_an_empty_archive_is_not_blamed_on_filters(reader: Client) -> None:
    assert "The archive is empty.<" in reader.get("/hosts?archived=1").content.decode()
    assert "No archived items match these filters." in reader.get("/hosts?archived=1&q=x").content.decode()
