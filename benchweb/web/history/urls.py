"""Addresses: the history."""

from django.urls import path

from benchweb.web.history import views

urlpatterns = [
    path("history", views.history_page, name="history"),
    path("history.csv", views.history_csv_file, name="history_csv"),
    path("history/charts.json", views.history_charts_json, name="history_charts"),
    path("history/notes", views.annotation_add, name="annotation_add"),
    path("history/notes/<int:annotation_id>/remove", views.annotation_remove, name="annotation_remove"),
    path("history/notes/<int:annotation_id>/restore", views.annotation_undo, name="annotation_restore"),
]
