"""Addresses: the installation's settings."""

from django.urls import path

from benchweb.web.site.views import mail_test_send, original_make, sample_make, sample_remove, site_settings

urlpatterns = [
    path("settings", site_settings, name="site_settings"),
    path("settings/mail-test", mail_test_send, name="mail_test"),
    path("settings/original", original_make, name="original_make"),
    path("settings/sample", sample_make, name="sample_make"),
    path("settings/sample/remove", sample_remove, name="sample_remove"),
]
