"""Addresses: sensitivities."""

from django.urls import path

from benchweb.web.sensitivities import views

urlpatterns = [
    path("sensitivities", views.sensitivity_list, name="sensitivities"),
    path("sensitivities/new", views.sensitivity_new, name="sensitivity_new"),
    path("sensitivities/<int:sensitivity_id>/edit", views.sensitivity_edit, name="sensitivity_edit"),
    path("sensitivities/<int:sensitivity_id>/archive", views.sensitivity_archive, name="sensitivity_archive"),
    path("sensitivities/<int:sensitivity_id>/restore", views.sensitivity_restore, name="sensitivity_restore"),
]
