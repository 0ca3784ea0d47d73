"""Addresses: streams of what runs."""

from django.urls import path

from benchweb.web.live import views

urlpatterns = [
    path("runs/<int:run_id>/events", views.run_events, name="run_events"),
    path("live", views.live, name="live"),
]
