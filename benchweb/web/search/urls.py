"""Addresses: the search."""

from django.urls import path

from benchweb.web.search import views

urlpatterns = [
    path("search", views.search_page, name="search"),
    path("search/suggestions", views.suggestions, name="suggestions"),
]
