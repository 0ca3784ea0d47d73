"""URLs of share links: those of a run, for who is logged in, and what a link opens, for anyone who has it."""

from django.urls import path

from benchweb.web.views import shared, shares

urlpatterns = [
    path("runs/<int:run_id>/shares", shares.run_shares, name="run_shares"),
    path("shares/<int:share_id>/revoke", shares.share_revoke, name="share_revoke"),
    path("s/<str:token>", shared.shared_page, name="shared"),
    path("s/<str:token>/results.csv", shared.shared_csv, name="shared_csv"),
    path("s/<str:token>/results.json", shared.shared_json, name="shared_json"),
    path("s/<str:token>/badge.svg", shared.shared_badge, name="shared_badge"),
    path("s/<str:token>/embed", shared.shared_embed, name="shared_embed"),
    # Whatever else is tried below a link: not the dashboard's own 404, whose navigation is nothing for strangers.
    path("s", shared.shared_nothing),
    path("s/", shared.shared_nothing),
    path("s/<path:rest>", shared.shared_nothing),
]
