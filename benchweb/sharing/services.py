"""Make, open, count and revoke share links."""

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q, TextChoices
from django.db.models.functions import Now
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.accounts.hashing import HashingBusyError
from benchweb.accounts.permissions import Permission, access_of
from benchweb.charts.run.export import figures_table, json_of, stored_content
from benchweb.charts.run.record import RunRecord, run_record, stored_record
from benchweb.common.refusals import RefusedWrite
from benchweb.documents.csv_file import table_csv
from benchweb.documents.document import Document
from benchweb.documents.json_file import stored_document
from benchweb.results.selectors import trial_rows
from benchweb.runs.models import Run
from benchweb.sharing.frozen_views import hidden_names
from benchweb.sharing.live import live_pages_store
from benchweb.sharing.models import LivePage, Share, SharePart
from benchweb.site.secrets import encrypted
from benchweb.site.values import is_allowed, site_setting

# 192 random bits: at a thousand million guesses a second, some 10^41 years for the first hit.
TOKEN_BYTES = 24
# Where links never expire by default, but must.
_DAYS_OF_ENDLESS = 30


class ShareError(RefusedWrite):
    """A refusal: `field` is the field of the request that is at fault, or empty; the message is for people."""


@dataclass(frozen=True)
class Snapshot:
    """A frozen run, once in each language by its code, and both its exports, part by part."""

    pages: dict[str, RunRecord]
    csv: Iterator[str]
    document: Iterator[str]


class Pause(TextChoices):
    """Why a link that stands shows nothing; the labels are for readers and makers."""

    LINKS = "links", gettext_lazy("This site allows no links without a log-in.")
    LIVE = "live", gettext_lazy("This site allows no live links.")
    ENDLESS = "endless", gettext_lazy("This site allows no links without an expiry.")
    MAKER = "maker", gettext_lazy("Its maker's account no longer has the right to share this view.")


def share_create(
    *, run: Run, user: User | None, expires_at: datetime | None = None, anonymise: bool = False, password: str = ""
) -> tuple[Share, str]:
    """Freeze a run and make a link to it; return the share and its token. `run` has all that names it selected."""
    hashed = _hashed(password)
    _check(expires_at)
    frozen = run_frozen(run=run, anonymise=anonymise)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        share = _stored(
            frozen, run=run, created_by=user, expires_at=expires_at, anonymise=anonymise, password=hashed, token=token
        )
    return share, token


def run_frozen(*, run: Run, anonymise: bool) -> Snapshot:
    """Freeze a run as a link made now would show it."""
    # The page and both exports tell of the same moment.
    trials = trial_rows(run.pk)
    pages = {}
    for language, _name in settings.LANGUAGES:
        # A label that is put together of many words can't be translated when it is read.
        with translation.override(language):
            pages[language] = run_record(run, trials)
    tables = {"en": figures_table(run, trials)}
    return Snapshot(
        pages=hidden_names(pages) if anonymise else pages,
        csv=table_csv((hidden_names(tables) if anonymise else tables)["en"]),
        document=json_of(run, replace(stored_content(run), trials=lambda: trials), is_nameless=anonymise),
    )


@transaction.atomic
def view_share_create(
    *,
    path: str,
    zone: str,
    pages: Mapping[str, Document],
    user: User | None,
    expires_at: datetime | None = None,
    anonymise: bool = False,
    is_live: bool = False,
    password: str = "",
) -> tuple[Share, str]:
    """Make a link to a view; return the share and its token. `pages` are what it shows now, by language."""
    _check(expires_at, is_live=is_live)
    frozen = hidden_names(pages) if anonymise else pages
    token = secrets.token_urlsafe(TOKEN_BYTES)
    share = Share.objects.create(
        path=path,
        zone=zone,
        title=next(iter(pages.values())).title[:300],
        is_live=is_live,
        created_by=user,
        expires_at=expires_at,
        anonymise=anonymise,
        digest=token_digest(token),
        token_encrypted=encrypted(token),
        password=_hashed(password),
        page=None if is_live else {language: stored_document(page) for language, page in frozen.items()},
    )
    if is_live:
        live_pages_store(share, frozen)
    return share, token


def default_days() -> int:
    """Return after how many days a link expires unless its maker says otherwise; 0 for never."""
    days: int = site_setting("SHARE_DAYS")
    return days or (0 if is_allowed("SHARE_ENDLESS") else _DAYS_OF_ENDLESS)


def default_expiry() -> datetime | None:
    """Return when a link that is made now expires unless its maker says otherwise; None for never."""
    days = default_days()
    return timezone.now() + timedelta(days=days) if days else None


def pause_of(share: Share) -> Pause | None:
    """Tell why a link that stands shows nothing at the moment.

    The site's settings go before; a live link goes on as long as its maker may make it.
    """
    if not is_allowed("SHARE_LINKS"):
        return Pause.LINKS
    if share.is_live and not is_allowed("SHARE_LIVE"):
        return Pause.LIVE
    if share.expires_at is None and not is_allowed("SHARE_ENDLESS"):
        return Pause.ENDLESS
    if share.is_live and share.created_by and not access_of(share.created_by).may(Permission.RUN):
        return Pause.MAKER
    return None


def is_share_password(share: Share, password: str) -> bool:
    """Tell whether a password opens a link; hashing takes long on purpose."""
    return check_password(password, share.password)


def _hashed(password: str) -> str:
    """Return a password as it is stored, nothing for none; refuse one that is guessed soon."""
    if not password:
        return ""
    try:
        validate_password(password)
    except ValidationError as error:
        raise ShareError("password", " ".join(error.messages)) from error
    try:
        return make_password(password)
    except HashingBusyError as error:
        raise ShareError("password", _("Too many log-ins at the moment. Try again in a few seconds.")) from error


def _check(expires_at: datetime | None, *, is_live: bool = False) -> None:
    forbidden = {
        "": not is_allowed("SHARE_LINKS") and Pause.LINKS,
        "is_live": is_live and not is_allowed("SHARE_LIVE") and Pause.LIVE,
        "expires_at": expires_at is None and not is_allowed("SHARE_ENDLESS") and Pause.ENDLESS,
    }
    for field, pause in forbidden.items():
        if pause:
            raise ShareError(field, str(pause.label))
    if expires_at is not None and expires_at <= timezone.now():
        raise ShareError(
            "expires_at", _("The link would have expired already: choose a time to come, or null for never.")
        )


def _stored(frozen: Snapshot, *, token: str, **fields: Any) -> Share:
    share = Share.objects.create(
        digest=token_digest(token),
        token_encrypted=encrypted(token),
        page={language: stored_record(page) for language, page in frozen.pages.items()},
        **fields,
    )
    for export, parts in ((SharePart.Export.CSV, frozen.csv), (SharePart.Export.JSON, frozen.document)):
        for number, text in enumerate(parts):
            SharePart.objects.create(share=share, export=export, number=number, text=text)
    return share


@transaction.atomic
def share_revoke(*, share_id: int) -> bool:
    """Revoke a link and forget what it showed; False when it was revoked before."""
    standing = Share.objects.filter(pk=share_id, revoked_at=None)
    is_revoked = bool(standing.update(revoked_at=Now(), page=None))
    SharePart.objects.filter(share=share_id).delete()
    LivePage.objects.filter(share=share_id).delete()
    return is_revoked


@transaction.atomic
def expired_content_remove() -> int:
    """Forget what expired links showed; their rows stay, to say so. Return of how many."""
    expired = Share.objects.filter(expires_at__lte=Now())
    SharePart.objects.filter(share__in=expired).delete()
    LivePage.objects.filter(share__in=expired).delete()
    return expired.filter(page__isnull=False).update(page=None)


def share_count_opening(*, token: str) -> bool:
    """Count one opening of a link that still holds; a link that doesn't is not touched."""
    holding = Share.objects.filter(holds(), digest=token_digest(token))
    return bool(holding.update(opened=F("opened") + 1, last_opened_at=Now()))


def holds() -> Q:
    """Return the condition under which a link is answered, by the database's clock."""
    return Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=Now()))


def token_digest(token: str) -> str:
    """Return what a link is looked up by."""
    return hashlib.sha256(token.encode()).hexdigest()
