"""Addresses: help."""

from django.urls import path

from benchweb.web.help import views

urlpatterns = [
    path("help", views.help_index, name="help"),
    path("help/api", views.api_examples, name="help_api"),
    path("help/glossary", views.glossary, name="glossary"),
    path("help/docs/images/<str:name>.png", views.help_image, name="help_image"),
    path("help/docs/<path:name>", views.help_document, name="help_document"),
]
