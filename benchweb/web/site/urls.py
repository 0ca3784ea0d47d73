"""Addresses: the installation's settings."""

from django.urls import path

from benchweb.web.site.removal_views import host_delete, import_delete, run_delete
from benchweb.web.site.views import (
    details_preview,
    intervals_preview,
    mail_test_send,
    original_make,
    sample_make,
    sample_remove,
    site_settings,
)

urlpatterns = [
    path("settings", site_settings, name="site_settings"),
    path("runs/<int:run_id>/delete", run_delete, name="run_delete"),
    path("runs/<int:run_id>/import/delete", import_delete, name="import_delete"),
    path("hosts/<int:host_id>/delete", host_delete, name="host_delete"),
    path("settings/intervals", intervals_preview, name="intervals_preview"),
    path("settings/details", details_preview, name="details_preview"),
    path("settings/mail-test", mail_test_send, name="mail_test"),
    path("settings/original", original_make, name="original_make"),
    path("settings/sample", sample_make, name="sample_make"),
    path("settings/sample/remove", sample_remove, name="sample_remove"),
]
