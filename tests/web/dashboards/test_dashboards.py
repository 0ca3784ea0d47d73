"""Dashboards: what is added where, who arranges it, and that a dashboard is a document as every view is."""

import json
import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set
from benchweb.dashboards.models import Dashboard, Tile
from benchweb.hosts.models import Environment, Host, Pair
from benchweb.results.run_summaries import rebuild
from tests.charts.history_rows import past_run
from tests.factories import make_alert, make_endpoint, make_pair, make_plan

NIGHTS = 6
# Pages ask no more.
MOST_QUERIES = 12


@pytest.fixture
def pair(db: None) -> Pair:
    """Return a pair that was measured for some nights."""
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 1}}], repetitions=2)
    pair = make_pair(source=make_endpoint(host_name="quartz"), sink=make_endpoint(host_name="basalt"))
    for ago in range(NIGHTS, 0, -1):
        past_run(plan, pair, timezone.now() - timedelta(days=ago), {"throughput_bps": 1e10}, {"throughput_bps": 1.1e10})
    rebuild()
    return pair


def found(pattern: str, text: str) -> str:
    """Return what a pattern's group matches."""
    match = re.search(pattern, text, re.DOTALL)
    assert match, pattern
    return match[1]


def viewer(name: str) -> Client:
    """Log somebody in who may only read."""
    user = User.objects.create_user(name)
    role_set(role=Role.VIEWER, user=user)
    client = Client()
    client.force_login(user)
    return client


def added(client: Client, path: str, **fields: str) -> Dashboard:
    """Add a view by the form, to a new dashboard unless one is named."""
    form = client.get("/dashboards/add", {"path": path}).content.decode()
    part = re.findall(r'<option value="((?:chart|table):[^"]+)"', form)[0]
    values = {"path": path, "dashboard": "new", "name": "wall", "width": "half", "part": part} | fields
    answer = client.post("/dashboards/add", values)
    assert answer.status_code == 302, answer.content.decode()
    return Dashboard.objects.get(pk=int(answer["Location"].rpartition("/")[2]))


def tiles(client: Client, board: Dashboard) -> list[str]:
    """Return what each tile shows, as the page loads them."""
    page = client.get(f"/dashboards/{board.pk}").content.decode()
    addresses = re.findall(r'hx-get="([^"]+/tiles/\d+)"', page)
    return [client.get(address).content.decode() for address in addresses]


def test_one_chart_of_a_history_is_added_and_shows_its_figures_now(signed_in: Client, pair: Pair) -> None:
    path = f"/history?pair={pair.pk}&over=30d"
    page = signed_in.get(path).content.decode()
    assert f'href="/dashboards/add?path={quote(path, safe="")}"' in page
    board = added(signed_in, path)
    (tile,) = tiles(signed_in, board)
    specs = json.loads(found(r"data-tile-specs>(.*?)</div>", tile))
    points = [point for line in specs[0]["series"] for point in line["measured"]]
    assert len(points) == NIGHTS
    assert f'href="{path.replace("&", "&amp;")}"' in tile
    assert "quartz" in tile


def test_a_table_is_added_with_the_title_of_its_section(signed_in: Client, pair: Pair) -> None:
    board = added(signed_in, f"/matrix?environment={pair.environment_id}", width="whole")
    (tile,) = tiles(signed_in, board)
    assert pair.environment.name in tile and "Gbit/s" in tile
    assert board.tiles.get().part.startswith("table:")


def test_page_and_tile_ask_few_queries(
    signed_in: Client, pair: Pair, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    board = added(signed_in, f"/history?pair={pair.pk}")
    for _ in range(3):
        added(signed_in, f"/matrix?environment={pair.environment_id}", dashboard=str(board.pk))
    with django_assert_max_num_queries(MOST_QUERIES):
        signed_in.get(f"/dashboards/{board.pk}")
    for tile in board.tiles.all():
        with django_assert_max_num_queries(MOST_QUERIES):
            signed_in.get(f"/dashboards/{board.pk}/tiles/{tile.pk}")


def test_a_dashboard_is_shared_exported_and_printed_as_any_view(signed_in: Client, pair: Pair) -> None:
    board = added(signed_in, f"/history?pair={pair.pk}")
    added(signed_in, f"/history?pair={pair.pk}&over=7d", dashboard=str(board.pk))
    added(signed_in, f"/matrix?environment={pair.environment_id}", dashboard=str(board.pk))
    path = f"/dashboards/{board.pk}"
    made = signed_in.post("/share", {"path": path, "shows": "live", "lasts": "30"}).content.decode()
    link = found(r'value="http://testserver(/s/[^"]+)"', made)
    page = Client().get(link).content.decode()
    first, second, _table = board.tiles.all()
    assert page.count("charts-data") == 1
    assert f'data-charts-of="tile{second.pk}"' in page
    charts = json.loads(found(r'id="charts-data" type="application/json">(.*?)</script>', page))
    assert [chart["id"].split("-")[0] for chart in charts] == [f"tile{first.pk}", f"tile{second.pk}"]
    hidden = signed_in.get("/share/preview", {"path": path, "anonymise": "1"}).content.decode()
    assert "quartz" in page and "quartz" not in hidden and "wall" not in hidden
    text = signed_in.get("/share/results.md", {"path": path})
    assert "Gbit/s" in b"".join(text).decode()


def test_tiles_are_moved_widened_and_removed(signed_in: Client, pair: Pair) -> None:
    board = added(signed_in, f"/history?pair={pair.pk}")
    added(signed_in, f"/matrix?environment={pair.environment_id}", dashboard=str(board.pk))
    first, second = board.tiles.all()

    def change(tile: Tile, **how: str) -> int:
        return signed_in.post(f"/dashboards/{board.pk}/tiles/{tile.pk}/move", how).status_code

    # Sent twice, as by a double click, it is moved once.
    for _ in range(2):
        assert change(first, to="1") == 302
        assert list(board.tiles.all()) == [second, first]
    change(first, to="0")
    assert list(board.tiles.all()) == [first, second]
    change(second, width="whole")
    assert board.tiles.get(pk=second.pk).width == "whole"
    assert [change(second, width="double"), change(second, to="-1"), change(second)] == [404, 404, 404]
    change(first, remove="1")
    assert list(board.tiles.all()) == [second]


def test_one_who_only_reads_has_dashboards_of_their_own_and_no_word_in_others(signed_in: Client, pair: Pair) -> None:
    reader, other = viewer("vic"), viewer("eve")
    board = added(reader, f"/history?pair={pair.pk}")
    address = f"/dashboards/{board.pk}"
    assert "wall" in reader.get("/dashboards").content.decode()
    assert "wall" not in other.get("/dashboards").content.decode()
    for body in ({"action": "remove"}, {"action": "rename", "name": "mine"}, {"action": "offer"}):
        assert other.post(f"{address}/change", body).status_code == 404
    assert other.post(f"{address}/tiles/{board.tiles.get().pk}/move", {"remove": "1"}).status_code == 404
    assert (
        other.post(
            "/dashboards/add", {"path": "/matrix", "dashboard": str(board.pk), "width": "half", "part": ""}
        ).status_code
        == 422
    )
    # To offer it to everybody takes an operator.
    assert reader.post(f"{address}/change", {"action": "offer"}).status_code == 403
    board.refresh_from_db()
    assert (board.name, board.is_team, board.archived_at, board.tiles.count()) == ("wall", False, None, 1)


def test_the_teams_dashboard_is_everybodys_and_operators_arrange_it(signed_in: Client, pair: Pair) -> None:
    board = added(signed_in, f"/history?pair={pair.pk}")
    address = f"/dashboards/{board.pk}"
    assert signed_in.post(f"{address}/change", {"action": "offer"}).status_code == 302
    reader = viewer("vic")
    assert "wall" in reader.get("/dashboards").content.decode()
    assert "Arrange" not in reader.get(address).content.decode()
    operator = User.objects.create_user("olly")
    role_set(role=Role.OPERATOR, user=operator)
    client = Client()
    client.force_login(operator)
    assert "Arrange" in client.get(address).content.decode()
    assert client.post(f"{address}/change", {"action": "rename", "name": "the team's"}).status_code == 302
    assert client.post(f"{address}/change", {"action": "remove"}).status_code == 302
    assert "the team" not in reader.get("/dashboards").content.decode()
    assert client.post(f"{address}/restore").status_code == 302
    assert "the team" in reader.get("/dashboards").content.decode()


def test_what_is_gone_says_so_and_leaves_the_other_tiles(signed_in: Client, pair: Pair) -> None:
    alert = make_alert(pair=pair)
    board = added(signed_in, f"/history?pair={pair.pk}")
    board.tiles.create(path=f"/alerts/{alert.pk}", part="", position=1)
    board.tiles.create(path=f"/history?pair={pair.pk}", part="chart:of-before", position=2)
    alert.delete()
    shown = tiles(signed_in, board)
    assert ["What stood here is gone." in tile for tile in shown] == [False, True, True]


@pytest.mark.parametrize(
    "path",
    [
        "/account",
        "//example.org/history",
        "https://example.org/history",
        "/dashboards/1",
        "\t/dashboards/1",
        " /dashboards/1",
        "",
    ],
)
def test_only_views_are_added(signed_in: Client, path: str) -> None:
    Dashboard.objects.create(pk=1, name="wall", user=User.objects.get())
    assert signed_in.get("/dashboards/add", {"path": path}).status_code == 404
    answer = signed_in.post("/dashboards/add", {"path": path, "dashboard": "1", "width": "half", "part": ""})
    assert answer.status_code == 404
    assert not Tile.objects.exists()


def test_a_dashboard_has_a_name(signed_in: Client) -> None:
    for name in ("", " " * 9, "x" * 101, "a\x00b"):
        assert signed_in.post("/dashboards", {"name": name}).status_code in (400, 422)
    assert not Dashboard.objects.exists()


def test_a_dashboard_within_itself_shows_nothing_there(signed_in: Client, pair: Pair) -> None:
    board = added(signed_in, f"/history?pair={pair.pk}")
    board.tiles.create(path=f"\t/dashboards/{board.pk}", part="", position=1)
    assert ["What stood here is gone." in tile for tile in tiles(signed_in, board)] == [False, True]
    text = signed_in.get("/share/results.md", {"path": f"/dashboards/{board.pk}"})
    assert text.status_code == 200


def test_a_sample_on_a_dashboard_is_marked(signed_in: Client, pair: Pair) -> None:
    board = added(signed_in, f"/pairs/{pair.pk}")
    for host in (pair.source.host, pair.sink.host):
        Host.objects.filter(pk=host.pk).update(is_synthetic=True)
    Environment.objects.filter(pk=pair.environment_id).update(is_synthetic=True)
    (tile,) = tiles(signed_in, board)
    preview = signed_in.get("/share/preview", {"path": f"/dashboards/{board.pk}"}).content.decode()
    assert "sample" in tile and "sample" in preview
