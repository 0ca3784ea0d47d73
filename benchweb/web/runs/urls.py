"""Addresses: runs."""

from django.urls import path

from benchweb.web.runs import list_views, views

urlpatterns = [
    path("runs", list_views.run_list, name="runs"),
    path("runs/bulk", list_views.runs_bulk, name="runs_bulk"),
    path("runs/<int:run_id>", views.run_page, name="run"),
    path("runs/<int:run_id>/queue", views.run_queue, name="run_queue"),
    path("runs/<int:run_id>/charts.json", views.run_charts_json, name="run_charts"),
    path("runs/<int:run_id>/results.csv", views.run_csv_file, name="run_csv"),
    path("runs/<int:run_id>/results.json", views.run_json_file, name="run_json"),
    path("runs/<int:run_id>/results/<str:tool>", views.run_tool_file, name="run_tool_file"),
    path("runs/<int:run_id>/cancel", views.run_cancel_page, name="run_cancel"),
    path("runs/<int:run_id>/again", views.run_again, name="run_again"),
    path("runs/<int:run_id>/badge.svg", views.run_badge, name="run_badge"),
]
