"""Addresses: the installation's settings."""

from django.urls import path

from benchweb.web.site.views import mail_test_send, site_settings

urlpatterns = [
    path("settings", site_settings, name="site_settings"),
    path("settings/mail-test", mail_test_send, name="mail_test"),
]
