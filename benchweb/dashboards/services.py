"""Make and arrange dashboards. Everybody may have some; the team's are arranged by those who may run tests."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from benchweb.accounts.permissions import Permission, access_of
from benchweb.common.names import stored_name, text_fault
from benchweb.common.refusals import RefusedWrite
from benchweb.dashboards.models import LONGEST_NAME, LONGEST_PART, LONGEST_PATH, Dashboard, Tile

# More would be no page that anybody looks at.
MOST_DASHBOARDS, MOST_TILES = 50, 24


class DashboardError(RefusedWrite):
    """A refusal: `field` is the field at fault; the message is for people."""


def dashboards_of(user: User) -> "QuerySet[Dashboard, Dashboard]":
    """Return a user's own dashboards and the team's, by name."""
    return Dashboard.objects.filter(Q(user=user) | Q(is_team=True), archived_at=None).select_related("user")


def arranged_by(user: User) -> "QuerySet[Dashboard, Dashboard]":
    """Return the dashboards that a user may change."""
    theirs = Q(user=user)
    if access_of(user).may(Permission.RUN):
        theirs |= Q(is_team=True)
    return Dashboard.objects.filter(theirs)


@transaction.atomic
def dashboard_create(*, user: User, name: str) -> Dashboard:
    """Make an empty dashboard of a user's own; raise DashboardError."""
    name = _checked_name(name)
    # Two that are made at once must not both be the last.
    User.objects.select_for_update().get(pk=user.pk)
    if Dashboard.objects.filter(user=user, archived_at=None).count() >= MOST_DASHBOARDS:
        raise DashboardError(
            "name", _("You have {most} dashboards already: remove one first.").format(most=MOST_DASHBOARDS)
        )
    return Dashboard.objects.create(user=user, name=name)


def dashboard_rename(*, dashboard: Dashboard, name: str) -> None:
    """Rename a dashboard; raise DashboardError."""
    Dashboard.objects.filter(pk=dashboard.pk).update(name=_checked_name(name))


def dashboard_offer(*, user: User, dashboard: Dashboard, is_team: bool) -> None:
    """Offer a dashboard to everybody, or make it its user's alone again.

    Raise Refused where who offers it may not run tests.
    """
    if is_team:
        access_of(user).demand(Permission.RUN, ())
    Dashboard.objects.filter(pk=dashboard.pk).update(is_team=is_team)


def dashboard_archive(*, dashboard: Dashboard) -> bool:
    """Take a dashboard from the lists; False where it was taken already."""
    return bool(Dashboard.objects.filter(pk=dashboard.pk, archived_at=None).update(archived_at=Now()))


def dashboard_restore(*, dashboard: Dashboard) -> bool:
    """Put a dashboard on the lists again; False where it was there."""
    return bool(Dashboard.objects.filter(pk=dashboard.pk, archived_at__isnull=False).update(archived_at=None))


@transaction.atomic
def tile_add(*, dashboard: Dashboard, path: str, part: str, width: str) -> Tile:
    """Put a view, or a part of it, at the end of a dashboard; raise DashboardError."""
    if len(path) > LONGEST_PATH or len(part) > LONGEST_PART:
        raise DashboardError("part", _("Its address is too long: leave out some filters."))
    if width not in Tile.Width.values:
        raise DashboardError("width", _("Choose a width."))
    tiles = _locked_tiles(dashboard)
    if tiles.count() >= MOST_TILES:
        raise DashboardError(
            "dashboard", _("There are {most} tiles on it already: remove one first.").format(most=MOST_TILES)
        )
    last = tiles.aggregate(last=Max("position"))["last"]
    return dashboard.tiles.create(path=path, part=part, width=width, position=0 if last is None else last + 1)


@transaction.atomic
def tile_place(*, dashboard: Dashboard, tile_id: int, position: int) -> bool:
    """Put a tile at a place among the others, from 0; False where the dashboard has none such."""
    tiles = list(_locked_tiles(dashboard))
    tile = next((tile for tile in tiles if tile.pk == tile_id), None)
    if tile is None:
        return False
    tiles.remove(tile)
    tiles.insert(max(0, position), tile)
    for number, each in enumerate(tiles):
        each.position = number
    Tile.objects.bulk_update(tiles, ["position"])
    return True


def tile_resize(*, dashboard: Dashboard, tile_id: int, width: str) -> bool:
    """Change a tile's width; False where the dashboard has no such tile or there is no such width."""
    if width not in Tile.Width.values:
        return False
    return bool(Tile.objects.filter(dashboard=dashboard, pk=tile_id).update(width=width))


def tile_remove(*, dashboard: Dashboard, tile_id: int) -> bool:
    """Take a tile away; False where the dashboard has none such."""
    removed, _by_model = Tile.objects.filter(dashboard=dashboard, pk=tile_id).delete()
    return bool(removed)


def _locked_tiles(dashboard: Dashboard) -> "QuerySet[Tile, Tile]":
    """Return its tiles while nobody else changes them."""
    Dashboard.objects.select_for_update().get(pk=dashboard.pk)
    return Tile.objects.filter(dashboard=dashboard)


def _checked_name(name: str) -> str:
    if fault := text_fault(" ".join(name.split())):
        raise DashboardError("name", fault)
    name = stored_name(name)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise DashboardError("name", _("A dashboard's name has 1 to {most} characters.").format(most=LONGEST_NAME))
    return name
