"""Addresses: shares, and the pages that their links open."""

from django.urls import path

from benchweb.web.shares import list_views, shared_views, views

urlpatterns = [
    path("runs/<int:run_id>/shares", views.run_shares, name="run_shares"),
    path("shares", list_views.share_list, name="shares"),
    path("shares/end", list_views.shares_end, name="shares_end"),
    path("shares/<int:share_id>/revoke", views.share_revoke, name="share_revoke"),
    path("s/<str:token>/unlock", shared_views.share_unlock, name="share_unlock"),
    # Whatever else is tried below a link: not the dashboard's own 404, whose navigation is nothing for strangers.
    path("s", shared_views.shared_nothing),
    path("s/", shared_views.shared_nothing),
    path("s/<path:rest>", shared_views.shared_nothing),
]
