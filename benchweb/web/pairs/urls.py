"""Addresses: pairs."""

from django.urls import path

from benchweb.web.pairs import mesh_views, views

urlpatterns = [
    path("pairs", views.pair_list, name="pairs"),
    path("pairs/archive", views.pairs_archive, name="pairs_archive"),
    path("pairs/restore", views.pairs_restore, name="pairs_restore"),
    path("pairs/new", views.pair_new, name="pair_new"),
    path("pairs/mesh", mesh_views.pair_mesh, name="pair_mesh"),
    path("pairs/mesh/summary", mesh_views.pair_mesh_summary, name="pair_mesh_summary"),
    path("pairs/<int:pair_id>", views.pair_page, name="pair"),
    path("pairs/<int:pair_id>/check", views.pair_check, name="pair_check"),
    path("pairs/<int:pair_id>/watch", views.pair_watch, name="pair_watch"),
    path("pairs/<int:pair_id>/edit", views.pair_edit, name="pair_edit"),
    *views.PairPages().paths(),
]
