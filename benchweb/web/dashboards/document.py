"""A dashboard as a document: a section for each of its tiles."""

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from django.urls import Resolver404, resolve
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.common.addresses import path_within
from benchweb.dashboards.models import Dashboard, Tile
from benchweb.dashboards.parts import part_section
from benchweb.documents.document import Document, DocumentSection
from benchweb.documents.references import free_text
from benchweb.sharing.frozen_views import NotShareable, page_at


@dataclass(frozen=True)
class ShownTile:
    """What a tile shows now, and whether nobody measured it."""

    section: DocumentSection
    is_synthetic: bool


def dashboard_document(dashboard: Dashboard, zone: str, language: str) -> Document:
    """Return what all tiles show now to a reader in a zone; each takes its own view's queries."""
    shown = [shown_tile(tile, zone, language) for tile in dashboard.tiles.all()]
    return Document(
        title=free_text(dashboard.name),
        lines=[],
        sections=[each.section for each in shown],
        made_at=timezone.now(),
        is_synthetic=any(each.is_synthetic for each in shown),
    )


def shown_tile(tile: Tile, zone: str, language: str) -> ShownTile:
    """Return what a tile shows now; what is no longer there says so."""
    key = f"tile{tile.pk}"
    try:
        document = page_at(tile_path(tile.path), zone, language)
    except (NotShareable, ValueError):
        return ShownTile(_gone(key), is_synthetic=False)
    section = part_section(document, tile.part, key=key)
    return ShownTile(_gone(key, section.title) if section.is_empty else section, document.is_synthetic)


def tile_path(path: str) -> str:
    """Return the path and query of a view that a tile may show; raise NotShareable of a dashboard, and of no view."""
    # As `urlsplit` reads it, which leaves out tabs and blanks before it.
    parts = urlsplit(path)
    own_path = path_within(parts.path)
    try:
        is_dashboard = resolve(own_path).url_name == "dashboard"
    except Resolver404 as error:
        raise NotShareable(path) from error
    if is_dashboard or parts.scheme or parts.netloc:
        raise NotShareable(path)
    return urlunsplit(("", "", own_path, parts.query, ""))


def _gone(key: str, title: str = "") -> DocumentSection:
    return DocumentSection(key, title or _("Nothing to show"), text=_("What stood here is gone."))
