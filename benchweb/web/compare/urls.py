"""Addresses: comparisons."""

from django.urls import path

from benchweb.web.compare import views

urlpatterns = [
    path("compare", views.compare_page, name="compare"),
    path("compare/sets", views.compare_sets_form, name="compare_sets"),
    path("compare/repeat", views.compare_repeat, name="compare_repeat"),
    path("compare/charts.json", views.compare_charts_json, name="compare_charts"),
    path("compare/results.csv", views.compare_csv_file, name="compare_csv"),
    path("compare/results.json", views.compare_json_file, name="compare_json"),
]
