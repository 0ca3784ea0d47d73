"""Log in by the OpenID provider: there, and back."""

import logging
from typing import cast

import requests
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.openid_connect import views
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchweb.accounts import throttle
from benchweb.accounts.addresses import client_address
from benchweb.web.login.adapters import refused
from benchweb.web.login.session_views import too_many

PROVIDER = "oidc"
_log = logging.getLogger(__name__)


@never_cache
@require_GET
def provider_login(request: HttpRequest) -> HttpResponse:
    """Lead to the provider.

    By GET: the policy of forms would block a redirection to elsewhere. Nobody is logged in as another by it, for the
    provider's answer counts only in the session that asked.
    """
    if not settings.OIDC_URL:
        raise Http404
    if seconds := throttle.start_refused(client_address(request)):
        return refused(request, too_many(seconds))
    provider = get_adapter().get_provider(request, PROVIDER)
    try:
        answer = provider.redirect(request, process=AuthProcess.LOGIN, next_url=get_next_redirect_url(request))
    except (requests.RequestException, ValueError, KeyError) as error:
        _log.warning("the OpenID provider can't be asked: %s", error)
        return refused(request, _("{name} can't be reached. Try again in a minute.").format(name=settings.OIDC_NAME))
    return cast(HttpResponse, answer)


@never_cache
@require_GET
def provider_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Take the provider's answer."""
    if not settings.OIDC_URL:
        raise Http404
    try:
        return cast(HttpResponse, views.callback(request, provider_id))
    except (requests.RequestException, ValueError, KeyError) as error:
        _log.warning("the OpenID provider's answer can't be used: %s", error)
        return refused(request, _("The log-in by {name} failed. Try again.").format(name=settings.OIDC_NAME))


@require_GET
def provider_cancelled(request: HttpRequest) -> HttpResponse:
    """Lead back who pressed Cancel there."""
    return redirect("web:login")
