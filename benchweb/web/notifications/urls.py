"""Addresses: notifications."""

from django.urls import path

from benchweb.web.notifications import channel_views, rule_views, views

urlpatterns = [
    path("notifications", views.notifications, name="notifications"),
    path("notifications/channels/new/<str:kind>", channel_views.channel_new, name="channel_new"),
    path("notifications/channels/<int:channel_id>", channel_views.channel_page, name="channel"),
    path("notifications/channels/<int:channel_id>/edit", channel_views.channel_edit, name="channel_edit"),
    path("notifications/channels/<int:channel_id>/archive", channel_views.channel_archive, name="channel_archive"),
    path("notifications/channels/<int:channel_id>/restore", channel_views.channel_restore, name="channel_restore"),
    path("notifications/channels/<int:channel_id>/test", channel_views.channel_test, name="channel_test"),
    path("notifications/channels/<int:channel_id>/enable", channel_views.channel_enable, name="channel_enable"),
    path("notifications/rules/new", rule_views.rule_new, name="rule_new"),
    path("notifications/rules/<int:rule_id>/edit", rule_views.rule_edit, name="rule_edit"),
    path("notifications/rules/<int:rule_id>/archive", rule_views.rule_archive, name="rule_archive"),
    path("notifications/rules/<int:rule_id>/restore", rule_views.rule_restore, name="rule_restore"),
    path("notifications/maintenance/new", rule_views.window_new, name="window_new"),
    path("notifications/maintenance/<int:window_id>/edit", rule_views.window_edit, name="window_edit"),
    path("notifications/maintenance/<int:window_id>/archive", rule_views.window_archive, name="window_archive"),
    path("notifications/maintenance/<int:window_id>/restore", rule_views.window_restore, name="window_restore"),
]
