"""Make, open, count and revoke share links."""

import hashlib
import secrets
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from benchweb.hosts.secrets import encrypted
from benchweb.results.selectors import run_results, trial_rows
from benchweb.runs.models import Run, RunEvent
from benchweb.sharing.anonymity import anonymised
from benchweb.sharing.frozen import FrozenEvent, RunContent, snapshot
from benchweb.sharing.models import Share

# 192 random bits: at a thousand million guesses a second, some 10^41 years for the first hit.
TOKEN_BYTES = 24
_EVENTS_SHOWN = 200


class ShareError(Exception):
    """A refusal: `field` is the field of the request that is at fault, or empty; the message is for people."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


def share_create(
    *, run: Run, user: User | None, expires_at: datetime | None = None, anonymise: bool = False
) -> tuple[Share, str]:
    """Freeze a run and make a link to it; give the share and its token. `run` has all that names it selected."""
    if expires_at is not None and expires_at <= timezone.now():
        raise ShareError("expires_at", "The link would have expired already: choose a time to come, or null for never.")
    content = _content(run)
    frozen = snapshot(anonymised(content) if anonymise else content)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    share = Share.objects.create(
        run=run,
        created_by=user,
        expires_at=expires_at,
        anonymise=anonymise,
        digest=token_digest(token),
        token_encrypted=encrypted(token),
        page={language: page.model_dump(mode="json") for language, page in frozen.pages.items()},
        csv=frozen.csv,
        document=frozen.document,
    )
    return share, token


def share_revoke(*, share_id: int) -> bool:
    """Revoke a link and forget what it showed; False when it was revoked before."""
    standing = Share.objects.filter(pk=share_id, revoked_at=None)
    return bool(standing.update(revoked_at=Now(), page=None, csv="", document=""))


def share_count_opening(*, token: str) -> bool:
    """Count one opening of a link that still holds; a link that doesn't is not touched."""
    holding = Share.objects.filter(holds(), digest=token_digest(token))
    return bool(holding.update(opened=F("opened") + 1, last_opened_at=Now()))


def holds() -> Q:
    """Give the condition under which a link is answered, by the database's clock."""
    return Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=Now()))


def token_digest(token: str) -> str:
    """Give what a link is looked up by."""
    return hashlib.sha256(token.encode()).hexdigest()


def _content(run: Run) -> RunContent:
    events = RunEvent.objects.filter(run=run).order_by("pk").values_list("at", "text")[:_EVENTS_SHOWN]
    return RunContent(
        run=run,
        trials=trial_rows(run.pk),
        results=list(run_results(run.pk)),
        events=[FrozenEvent(at=at, text=text) for at, text in events],
    )
