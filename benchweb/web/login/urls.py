"""Addresses: log in and out, a forgotten password, an invitation, the first admin."""

from django.urls import path

from benchweb.accounts.roles.needs import open_to_all
from benchweb.web.login import first_admin_views, invitation_views, provider_views, reset_views, session_views

_for_strangers = open_to_all(
    "who is not logged in yet logs in here, or proves who they are by a link or the code in the log"
)
_new_password = _for_strangers(reset_views.NewPassword.as_view())

urlpatterns = [
    path("login", _for_strangers(session_views.Login.as_view()), name="login"),
    path("logout", open_to_all("it only ends the own session")(session_views.Logout.as_view()), name="logout"),
    path("session", _for_strangers(session_views.session_state), name="session"),
    path("session/logged-in", session_views.logged_in, name="logged_in"),
    path("login/provider", _for_strangers(provider_views.provider_login), name="provider_login"),
    path("login/forgotten", _for_strangers(reset_views.password_forgotten), name="password_forgotten"),
    path("first-admin", _for_strangers(first_admin_views.first_admin), name="first_admin"),
    path("login/invitation/<str:token>", _for_strangers(invitation_views.invitation), name="invitation"),
    path("login/new-password/<str:uidb64>/<str:token>", _new_password, name="new_password"),
]
