"""A share link with a password: it is asked for once in each browser, and guessing is slow."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.accounts.hashing import HashingBusyError
from benchweb.common.addresses import site_path
from benchweb.sharing.models import Share
from benchweb.sharing.services import is_share_password
from benchweb.web.login.session_views import busy, too_many

_SALT = "benchweb.web.shares.locked"


def is_unlocked(request: HttpRequest, share: Share) -> bool:
    """Tell whether a link needs no password, or this browser has given it."""
    given = request.COOKIES.get(_cookie(share), "")
    return not share.password or constant_time_compare(given, _proof(share))


def unlock(request: HttpRequest, share: Share, response: HttpResponse) -> HttpResponse:
    """Return `response` with the cookie that opens the link until the browser closes; or the page that asks again."""
    address = client_address(request)
    if seconds := throttle.begin_share(share.pk, address):
        return locked_page(request, fault=too_many(seconds), status=429)
    try:
        if not is_share_password(share, request.POST.get("password", "")):
            return locked_page(request, fault=_("This password is wrong."))
    except HashingBusyError:
        return locked_page(request, fault=busy(), status=503)
    throttle.share_opened(share.pk, address)
    response.set_cookie(
        _cookie(share),
        _proof(share),
        path=site_path("/s/"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def locked_page(request: HttpRequest, *, fault: str = "", is_framed: bool = False, status: int = 403) -> HttpResponse:
    """Ask for the password; in a frame of another page only say where it is asked for."""
    path = request.path.removesuffix("/unlock").removesuffix("/embed")
    for export in ("/results.csv", "/results.json", "/results.md"):
        path = path.removesuffix(export)
    context = {"fault": fault, "is_framed": is_framed, "link": path}
    return render(request, "shares/shared_locked.html", context, status=status)


def _cookie(share: Share) -> str:
    return f"share-{share.pk}"


def _proof(share: Share) -> str:
    """Return what only who gave the password has; another password or secret key makes another one."""
    return salted_hmac(_SALT, f"{share.pk}:{share.password}", algorithm="sha256").hexdigest()
