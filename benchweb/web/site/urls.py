"""Addresses: the installation's settings."""

from django.urls import path

from benchweb.web.site.views import site_settings

urlpatterns = [path("settings", site_settings, name="site_settings")]
