"""URLs of the history and of the notes on it."""

from django.urls import path

from benchweb.web.views import history

urlpatterns = [
    path("history", history.history_page, name="history"),
    path("history.csv", history.history_csv_file, name="history_csv"),
    path("history/charts.json", history.history_charts_json, name="history_charts"),
    path("history/notes", history.annotation_add, name="annotation_add"),
    path("history/notes/<int:annotation_id>/remove", history.annotation_remove, name="annotation_remove"),
]
