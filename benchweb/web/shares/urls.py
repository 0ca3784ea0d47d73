"""Addresses: shares, and the pages that their links open."""

from django.urls import path

from benchweb.web.shares import shared_views, views

urlpatterns = [
    path("runs/<int:run_id>/shares", views.run_shares, name="run_shares"),
    path("shares/<int:share_id>/revoke", views.share_revoke, name="share_revoke"),
    path("s/<str:token>", shared_views.shared_page, name="shared"),
    path("s/<str:token>/results.csv", shared_views.shared_csv, name="shared_csv"),
    path("s/<str:token>/results.json", shared_views.shared_json, name="shared_json"),
    path("s/<str:token>/badge.svg", shared_views.shared_badge, name="shared_badge"),
    path("s/<str:token>/embed", shared_views.shared_embed, name="shared_embed"),
    # Whatever else is tried below a link: not the dashboard's own 404, whose navigation is nothing for strangers.
    path("s", shared_views.shared_nothing),
    path("s/", shared_views.shared_nothing),
    path("s/<path:rest>", shared_views.shared_nothing),
]
