"""Addresses: the timeline."""

from django.urls import path

from benchweb.web.timeline import views

urlpatterns = [
    path("timeline", views.timeline_page, name="timeline"),
    path("timeline/week", views.week_page, name="week"),
]
