"""Addresses: pairs."""

from django.urls import path

from benchweb.web.pairs import views

urlpatterns = [
    path("pairs", views.pair_list, name="pairs"),
    path("pairs/new", views.pair_new, name="pair_new"),
    path("pairs/<int:pair_id>", views.pair_page, name="pair"),
    path("pairs/<int:pair_id>/check", views.pair_check, name="pair_check"),
    path("pairs/<int:pair_id>/watch", views.pair_watch, name="pair_watch"),
    path("pairs/<int:pair_id>/edit", views.pair_edit, name="pair_edit"),
    path("pairs/<int:pair_id>/archive", views.pair_archive, name="pair_archive"),
    path("pairs/<int:pair_id>/restore", views.pair_restore, name="pair_restore"),
]
