"""Addresses: hosts from a table, and what is done with several at once."""

from django.urls import path

from benchweb.web.host_table import bulk_views, views

urlpatterns = [
    path("hosts/archive", bulk_views.hosts_archive, name="hosts_archive"),
    path("hosts/restore", bulk_views.hosts_restore, name="hosts_restore"),
    path("hosts/import", views.host_import, name="host_import"),
    path("hosts/import/preview", views.host_import_preview, name="host_import_preview"),
]
