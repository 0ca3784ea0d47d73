"""A dashboard as a document: a section for each of its tiles."""

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.dashboards.models import Dashboard, Tile
from benchweb.dashboards.parts import part_section
from benchweb.documents.document import Document, DocumentSection
from benchweb.documents.references import free_text
from benchweb.sharing.frozen_views import NotShareable, page_at


def dashboard_document(dashboard: Dashboard, zone: str, language: str) -> Document:
    """Return what all tiles show now to a reader in a zone; each takes its own view's queries."""
    tiles = list(dashboard.tiles.all())
    return Document(
        title=free_text(dashboard.name),
        lines=[],
        sections=[tile_section(tile, zone, language) for tile in tiles],
        made_at=timezone.now(),
    )


def tile_section(tile: Tile, zone: str, language: str) -> DocumentSection:
    """Return what a tile shows now; what is no longer there says so."""
    key = f"tile{tile.pk}"
    try:
        section = part_section(page_at(tile.path, zone, language), tile.part, key=key)
    except (NotShareable, ValueError):
        section = DocumentSection(key, "")
    if section.is_empty:
        return DocumentSection(key, section.title or _("Nothing to show"), text=_("What stood here is gone."))
    return section
