"""Addresses: baselines."""

from django.urls import path

from benchweb.web.baselines import views

urlpatterns = [
    path("baselines", views.baseline_list, name="baselines"),
    path("runs/<int:run_id>/pin", views.baseline_new, name="baseline_new"),
    path("runs/<int:run_id>/baseline", views.run_baseline, name="run_baseline"),
    path("baselines/<int:baseline_id>/archive", views.baseline_archive, name="baseline_archive"),
    path("baselines/<int:baseline_id>/restore", views.baseline_restore, name="baseline_restore"),
]
