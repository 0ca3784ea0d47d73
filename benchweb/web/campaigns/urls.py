"""Addresses: campaigns."""

from django.urls import path

from benchweb.web.campaigns import views

urlpatterns = [
    path("campaigns/cancel", views.campaigns_cancel, name="campaigns_cancel"),
    path("campaigns/label", views.campaigns_label, name="campaigns_label"),
    path("campaigns", views.campaign_list, name="campaigns"),
    path("campaigns/<int:campaign_id>", views.campaign_page, name="campaign"),
    path("campaigns/<int:campaign_id>/cancel", views.campaign_cancel_page, name="campaign_cancel"),
]
