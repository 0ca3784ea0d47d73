"""Addresses: environments."""

from django.urls import path

from benchweb.web.environments import views

urlpatterns = [
    *views.EnvironmentPages().paths(),
    path("environments/<int:environment_id>", views.environment_page, name="environment"),
]
