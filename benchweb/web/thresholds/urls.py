"""Addresses: thresholds."""

from django.urls import path

from benchweb.web.thresholds import views

urlpatterns = [
    path("thresholds", views.threshold_list, name="thresholds"),
    path("thresholds/new", views.threshold_new, name="threshold_new"),
    path("thresholds/<int:threshold_id>/edit", views.threshold_edit, name="threshold_edit"),
    path("thresholds/<int:threshold_id>/archive", views.threshold_archive, name="threshold_archive"),
    path("thresholds/<int:threshold_id>/restore", views.threshold_restore, name="threshold_restore"),
]
