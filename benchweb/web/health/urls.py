"""Addresses: the installation's health."""

from django.urls import path

from benchweb.web.health.views import health

urlpatterns = [path("health", health, name="health")]
