"""Addresses: launching a plan."""

from django.urls import path

from benchweb.web.launch import one_off, views

urlpatterns = [
    path("plans/<int:plan_id>/launch", views.launch, name="plan_launch"),
    path("launch", views.launch, name="launch"),
    path("runs/<int:run_id>/changed", one_off.run_changed, name="run_changed"),
    path("quick-test", one_off.quick, name="quick_test"),
    path("launch/choice", views.launch_choice, name="launch_choice"),
]
