"""Addresses of imports."""

from django.urls import path

from benchweb.web.imports import views

urlpatterns = [
    path("imports", views.imports, name="imports"),
    path("imports/preview", views.import_preview, name="import_preview"),
]
