"""A user's own account: time zone, language, theme, and the sessions that are logged in."""

from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts import sessions
from benchweb.accounts.models import UserSession
from benchweb.accounts.permissions import Permission
from benchweb.accounts.preferences import preferences_apply, preferences_of, preferences_save
from benchweb.accounts.roles.needs import needs
from benchweb.web.account.forms import PreferencesForm

# What browsers call themselves: the first that is found, for each names others too.
_BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
_SYSTEMS = {"Android": "Android", "iPhone": "iOS", "iPad": "iPadOS", "Windows": "Windows", "Mac OS": "macOS"}
_SYSTEMS |= {"Linux": "Linux"}
_LONGEST_SHOWN = 40


@dataclass(frozen=True)
class SessionRow:
    """A session as its user sees it."""

    session: UserSession
    handle: str
    browser: str
    is_this_one: bool


@needs(Permission.READ)
@never_cache
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show the account; on POST store how its user wants the pages."""
    user = cast(User, request.user)
    form = PreferencesForm(request.POST) if request.method == "POST" else PreferencesForm.of(preferences_of(user))
    if request.method == "POST" and form.is_valid():
        response = redirect("web:account")
        preferences_apply(response, preferences_save(user=user, **form.cleaned_data), clears=True)
        messages.success(request, _("Saved. Other browsers follow at their next log-in."))
        return response
    rows = [_row(request, session) for session in sessions.sessions_of(user)]
    return render(request, "account/account.html", {"form": form, "sessions": rows})


@needs(Permission.READ)
@require_POST
def session_end(request: HttpRequest, handle: str) -> HttpResponse:
    """End one of the user's own sessions; somebody else's does not exist here."""
    if not sessions.session_end(user=cast(User, request.user), handle=handle):
        raise Http404(_("No such session"))
    messages.success(request, _("The session is ended: its browser has to log in again."))
    return redirect("web:account")


@needs(Permission.READ)
@require_POST
def sessions_end(request: HttpRequest) -> HttpResponse:
    """End all of the user's sessions but this one."""
    ended = sessions.sessions_end_others(user=cast(User, request.user), key=request.session.session_key)
    text = ngettext("{number} other session ended.", "{number} other sessions ended.", ended)
    messages.success(request, text.format(number=ended))
    return redirect("web:account")


def _row(request: HttpRequest, session: UserSession) -> SessionRow:
    is_this_one = session.session_key == request.session.session_key
    return SessionRow(session, sessions.session_handle(session), _browser(session.client), is_this_one)


def _browser(client: str) -> str:
    """Say a browser and its system; what names neither is said as it calls itself."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in client), "")
    system = next((name for mark, name in _SYSTEMS.items() if mark in client), "")
    return " · ".join(filter(None, [browser, system])) or client[:_LONGEST_SHOWN] or _("unknown browser")
