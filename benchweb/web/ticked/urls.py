"""Addresses: rows ticked in a list."""

from django.urls import path

from benchweb.web.ticked import views

urlpatterns = [
    path("lists/<slug:list_name>/compare", views.ticked_compare, name="ticked_compare"),
    path("lists/<slug:list_name>/export", views.ticked_export, name="ticked_export"),
]
