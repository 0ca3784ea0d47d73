"""Addresses: log-in, tokens, saved views, language."""

from django.urls import path
from django.views.i18n import set_language

from benchweb.web.account import saved_view_views, session_views, token_views

urlpatterns = [
    path("login", session_views.Login.as_view(), name="login"),
    path("logout", session_views.Logout.as_view(), name="logout"),
    path("tokens", token_views.token_list, name="tokens"),
    path("tokens/<int:token_id>/revoke", token_views.token_revoke, name="token_revoke"),
    path("language", set_language, name="language"),
    path("views", saved_view_views.view_list, name="saved_views"),
    path("views/menu", saved_view_views.view_menu, name="saved_views_menu"),
    path("views/save", saved_view_views.view_save, name="saved_view_save"),
    path("views/<int:view_id>", saved_view_views.view_change, name="saved_view_change"),
]
