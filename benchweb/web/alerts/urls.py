"""Addresses: alerts."""

from django.urls import path

from benchweb.web.alerts import chart_views, views, why_view

urlpatterns = [
    path("alerts", views.alerts, name="alerts"),
    path("alerts/count", views.alerts_count, name="alerts_count"),
    path("alerts/triage", views.alerts_triage, name="alerts_triage"),
    path("morning", views.morning, name="morning"),
    path("morning/why", why_view.morning_why, name="morning_why"),
    path("hosts/<int:host_id>/why", why_view.host_why, name="host_why"),
    path("alerts/<int:alert_id>", views.alert, name="alert"),
    path("alerts/<int:alert_id>/charts.json", chart_views.alert_charts_json, name="alert_charts"),
    path("alerts/<int:alert_id>/why", why_view.alert_why, name="alert_why"),
    path("alerts/<int:alert_id>/move", views.alert_move, name="alert_move"),
]
