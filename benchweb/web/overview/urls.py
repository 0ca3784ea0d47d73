"""Addresses: the overview."""

from django.urls import path

from benchweb.web.overview import views

urlpatterns = [
    path("", views.overview, name="overview"),
]
