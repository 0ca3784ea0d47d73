"""Addresses of imports."""

from django.urls import path

from benchweb.web.imports import own_views, views

urlpatterns = [
    path("imports", views.imports, name="imports"),
    path("imports/preview", views.import_preview, name="import_preview"),
    path("own-kinds", own_views.own_definitions, name="own_definitions"),
    path("own-kinds/<str:what>/<int:own_id>/change", own_views.own_change, name="own_change"),
    path("own-kinds/<str:what>/<int:own_id>/delete", own_views.own_removal, name="own_removal"),
]
