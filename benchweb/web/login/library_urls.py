"""Addresses by the names that django-allauth looks them up by; our own pages behind most of them."""

from django.urls import path

from benchweb.accounts.roles.needs import open_to_all
from benchweb.web.login import provider_views, session_views

_for_strangers = open_to_all("who is not logged in yet logs in here")
_callback = _for_strangers(provider_views.provider_callback)
_cancelled = _for_strangers(provider_views.provider_cancelled)
_provider = {"provider_id": provider_views.PROVIDER}

urlpatterns = [
    path("login", _for_strangers(session_views.Login.as_view()), name="account_login"),
    path("login/provider/callback", _callback, _provider, name="openid_connect_callback"),
    path("login/provider/cancelled", _cancelled, name="socialaccount_login_cancelled"),
]
