"""Addresses: notifications."""

from django.urls import path

from benchweb.web.notifications import channel_views, rule_views, views

urlpatterns = [
    path("notifications", views.notifications, name="notifications"),
    path("notifications/channels/new/<str:kind>", channel_views.channel_new, name="channel_new"),
    path("notifications/channels/<int:channel_id>", channel_views.channel_page, name="channel"),
    path("notifications/channels/<int:channel_id>/edit", channel_views.channel_edit, name="channel_edit"),
    path("notifications/channels/<int:channel_id>/test", channel_views.channel_test, name="channel_test"),
    path("notifications/channels/<int:channel_id>/enable", channel_views.channel_enable, name="channel_enable"),
    path("hosts/<int:host_id>/silence", rule_views.host_silence, name="host_silence"),
    *channel_views.ChannelPages().paths(),
    *rule_views.RulePages().paths(),
    *rule_views.WindowPages().paths(),
]
