"""Addresses: environments."""

from django.urls import path

from benchweb.web.environments import views

urlpatterns = [
    path("environments", views.environment_list, name="environments"),
    path("environments/new", views.environment_new, name="environment_new"),
    path("environments/<int:environment_id>", views.environment_page, name="environment"),
    path("environments/<int:environment_id>/edit", views.environment_edit, name="environment_edit"),
    path("environments/<int:environment_id>/archive", views.environment_archive, name="environment_archive"),
    path("environments/<int:environment_id>/restore", views.environment_restore, name="environment_restore"),
]
