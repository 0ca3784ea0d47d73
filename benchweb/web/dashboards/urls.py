"""Addresses: dashboards, and their tiles."""

from django.urls import path

from benchweb.web.dashboards import views

urlpatterns = [
    path("dashboards", views.dashboards, name="dashboards"),
    path("dashboards/add", views.tile_new, name="tile_new"),
    path("dashboards/<int:dashboard_id>", views.dashboard, name="dashboard"),
    path("dashboards/<int:dashboard_id>/change", views.dashboard_change, name="dashboard_change"),
    path("dashboards/<int:dashboard_id>/restore", views.dashboard_restore, name="dashboard_restore"),
    path("dashboards/<int:dashboard_id>/tiles/<int:tile_id>", views.dashboard_tile, name="dashboard_tile"),
    path("dashboards/<int:dashboard_id>/tiles/<int:tile_id>/move", views.tile_change, name="tile_move"),
]
