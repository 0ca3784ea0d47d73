"""Read share links: by their token for strangers, by their run for those who are logged in."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import get_language

from benchweb.accounts.permissions import Access, Permission
from benchweb.common.addresses import site_path
from benchweb.sharing.models import LivePage, Share, SharePart
from benchweb.sharing.services import Pause, holds, pause_of, token_digest
from benchweb.site.secrets import SecretUnreadable, decrypted


@dataclass(frozen=True)
class OpenedShare:
    """A share behind a token: with its content while the link holds, else with when it ended, or why it is paused.

    `page` is the frozen run in the reader's language, where it was asked for.
    """

    share: Share
    ended: Literal["", "revoked", "expired", "paused"]
    ended_at: datetime | None
    page: dict[str, Any] | None = None
    pause: Pause | None = None
    # Of an ended one: what it showed is deleted.
    is_emptied: bool = False


def share_by_token(token: str, *, with_page: bool) -> OpenedShare | None:
    """Return the share of a token, with its page where that is wanted; None for a token that nobody was given."""
    rows = Share.objects.defer("page")
    if with_page:
        # One language of them; a share made before the reader's was known here is shown in English.
        spoken = get_language() or "en"
        rows = rows.annotate(spoken=Coalesce(KeyTransform(spoken, "page"), KeyTransform("en", "page")))
    share = rows.filter(digest=token_digest(token)).first()
    if share is None:
        return None
    if share.revoked_at:
        return OpenedShare(share, "revoked", share.revoked_at, is_emptied=True)
    if share.expires_at and share.expires_at <= timezone.now():
        return OpenedShare(share, "expired", share.expires_at, is_emptied=not _has_content(share))
    if pause := pause_of(share):
        return OpenedShare(share, "paused", None, pause=pause)
    return OpenedShare(share, "", None, getattr(share, "spoken", None))


def _has_content(share: Share) -> bool:
    is_live = Exists(LivePage.objects.filter(share=OuterRef("pk")))
    return Share.objects.filter(Q(page__isnull=False) | Q(is_live), pk=share.pk).exists()


def share_parts(share: Share, export: SharePart.Export) -> Iterator[str]:
    """Return an export piece by piece, each when it is needed; raises DoesNotExist when it is revoked meanwhile."""
    parts = share.parts.filter(export=export)
    for number in range(parts.count()):
        yield parts.values_list("text", flat=True).get(number=number)


def shares(*, run: int | None = None, path: str = "") -> "QuerySet[Share, Share]":
    """Return share links without their content, newest first: all, a run's or those of a view's address."""
    rows = Share.objects.defer("page").select_related("created_by", "run__pair").order_by("-pk")
    rows = rows.filter(path=path) if path else rows
    return rows if run is None else rows.filter(run=run)


def shares_standing() -> "QuerySet[Share, Share]":
    """Return the links that still open."""
    return shares().filter(holds())


def shares_ended() -> "QuerySet[Share, Share]":
    """Return the links that are revoked or expired."""
    return shares().exclude(holds())


def environments_of_share(*, share_id: int, **_: object) -> Iterable[int | None]:
    """Return the environment of the run that a link shows, read when it matters; None of a view."""
    return Share.objects.filter(pk=share_id).values_list("run__pair__environment_id", flat=True)


def may_see_link(access: Access, share: Share) -> bool:
    """Tell whether somebody may see the address that opens a link: who may make such a one, and nobody else."""
    if share.run is None:
        return access.may(Permission.RUN)
    return access.may_in(Permission.RUN, share.run.pair.environment_id)


def share_path(share: Share) -> str:
    """Return the link's path, or nothing when the dashboard's secret key has changed since."""
    try:
        return site_path(f"/s/{decrypted(share.token_encrypted)}")
    except SecretUnreadable:
        return ""


def is_standing(share: Share) -> bool:
    """Tell whether a link still opens."""
    return share.revoked_at is None and (share.expires_at is None or share.expires_at > timezone.now())
