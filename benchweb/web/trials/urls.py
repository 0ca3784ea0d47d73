"""Addresses: a run's trials."""

from django.urls import path

from benchweb.web.trials import views

urlpatterns = [
    path("runs/<int:run_id>/trials/<int:index>", views.trial_page, name="trial"),
    path("runs/<int:run_id>/trials/<int:index>/document.json", views.trial_document_file, name="trial_document"),
    path("runs/<int:run_id>/trials/<int:index>/intervals.csv", views.trial_intervals_file, name="trial_intervals"),
    path("runs/<int:run_id>/trials/<int:index>/charts.json", views.trial_charts_json, name="trial_charts"),
]
