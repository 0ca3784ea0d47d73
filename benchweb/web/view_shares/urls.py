"""Addresses: links to views, and what all share links open."""

from django.urls import path

from benchweb.web.view_shares import previews, views

urlpatterns = [
    path("share", views.view_shares, name="view_shares"),
    path("share/preview", previews.view_preview, name="view_preview"),
    path("runs/<int:run_id>/shares/preview", previews.run_preview, name="run_preview"),
    path("s/<str:token>", views.shared_page, name="shared"),
    path("share/results.csv", previews.view_csv, name="view_csv"),
    path("share/results.json", previews.view_json, name="view_json"),
    path("share/results.md", previews.view_markdown, name="view_markdown"),
    path("s/<str:token>/results.csv", views.shared_csv, name="shared_csv"),
    path("s/<str:token>/results.json", views.shared_json, name="shared_json"),
    path("s/<str:token>/results.md", views.shared_markdown, name="shared_markdown"),
    path("s/<str:token>/badge.svg", views.shared_badge, name="shared_badge"),
    path("s/<str:token>/embed", views.shared_embed, name="shared_embed"),
]
