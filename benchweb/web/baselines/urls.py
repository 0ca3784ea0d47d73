"""Addresses: baselines."""

from django.urls import path

from benchweb.web.baselines import views

urlpatterns = [
    *views.BaselinePages().paths(),
    path("runs/<int:run_id>/pin", views.baseline_new, name="baseline_new"),
    path("runs/<int:run_id>/baseline", views.run_baseline, name="run_baseline"),
]
