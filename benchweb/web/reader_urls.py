"""URLs of what is the reader's own: language, search, saved views."""

from django.urls import path
from django.views.i18n import set_language

from benchweb.web.views import saved_views, search

urlpatterns = [
    path("language", set_language, name="language"),
    path("search", search.search_page, name="search"),
    path("search/suggestions", search.suggestions, name="suggestions"),
    path("views", saved_views.view_list, name="saved_views"),
    path("views/menu", saved_views.view_menu, name="saved_views_menu"),
    path("views/save", saved_views.view_save, name="saved_view_save"),
    path("views/<int:view_id>", saved_views.view_change, name="saved_view_change"),
]
