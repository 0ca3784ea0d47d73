"""Addresses: the account, tokens, saved views, language."""

from django.urls import path
from django.views.i18n import set_language

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs, open_to_all
from benchweb.web.account import account_views, password_views, saved_view_views, token_views
from benchweb.web.shared.lists import columns_save

urlpatterns = [
    path("account", account_views.account, name="account"),
    path("account/password", needs(Permission.READ)(password_views.PasswordChange.as_view()), name="password"),
    path("account/mail", needs(Permission.READ)(password_views.MailAddressChange.as_view()), name="mail_address"),
    path("account/sessions/end-others", account_views.sessions_end, name="sessions_end"),
    path("account/sessions/<str:handle>/end", account_views.session_end, name="session_end"),
    path("tokens", token_views.token_list, name="tokens"),
    path("tokens/<int:token_id>/revoke", token_views.token_revoke, name="token_revoke"),
    path("columns/<slug:list_name>", columns_save, name="columns_save"),
    path("language", open_to_all("it only sets the language of the own browser")(set_language), name="language"),
    path("views", saved_view_views.view_list, name="saved_views"),
    path("views/menu", saved_view_views.view_menu, name="saved_views_menu"),
    path("views/save", saved_view_views.view_save, name="saved_view_save"),
    path("views/<int:view_id>", saved_view_views.view_change, name="saved_view_change"),
    path("views/<int:view_id>/withdraw", saved_view_views.view_withdraw, name="saved_view_withdraw"),
]
