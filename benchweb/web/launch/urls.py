"""Addresses: launching a plan."""

from django.urls import path

from benchweb.web.launch import views

urlpatterns = [
    path("plans/<int:plan_id>/launch", views.launch, name="plan_launch"),
    path("launch", views.launch, name="launch"),
    path("launch/choice", views.launch_choice, name="launch_choice"),
]
