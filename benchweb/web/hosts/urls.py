"""Addresses: hosts and their endpoints."""

from django.urls import path

from benchweb.web.hosts import endpoint_views, enrolment, known_hosts, views

urlpatterns = [
    path("hosts", views.host_list, name="hosts"),
    path("hosts/new", views.host_new, name="host_new"),
    path("hosts/command", views.host_command, name="host_command"),
    path("hosts/known", known_hosts.host_known, name="host_known"),
    path("hosts/watch", enrolment.host_watch, name="host_watch"),
    path("hosts/tickets", enrolment.ticket_list, name="tickets"),
    path("hosts/tickets/<int:ticket_id>/revoke", enrolment.ticket_end, name="ticket_end"),
    path("hosts/<int:host_id>", views.host_page, name="host"),
    path("hosts/<int:host_id>/availability", views.host_availability, name="host_availability"),
    path("hosts/<int:host_id>/edit", views.host_edit, name="host_edit"),
    path("hosts/<int:host_id>/archive", views.host_archive, name="host_archive"),
    path("hosts/<int:host_id>/restore", views.host_restore, name="host_restore"),
    path("hosts/<int:host_id>/endpoints/new", endpoint_views.endpoint_new, name="endpoint_new"),
    path("endpoints/<int:endpoint_id>/edit", endpoint_views.endpoint_edit, name="endpoint_edit"),
    path("endpoints/<int:endpoint_id>/archive", endpoint_views.endpoint_archive, name="endpoint_archive"),
    path("endpoints/<int:endpoint_id>/restore", endpoint_views.endpoint_restore, name="endpoint_restore"),
    path("endpoints/<int:endpoint_id>/check", endpoint_views.endpoint_check, name="endpoint_check"),
    path("endpoints/<int:endpoint_id>/watch", endpoint_views.endpoint_watch, name="endpoint_watch"),
    path("endpoints/<int:endpoint_id>/rotate", endpoint_views.endpoint_rotate, name="endpoint_rotate"),
    path("endpoints/<int:endpoint_id>/pin", endpoint_views.endpoint_pin, name="endpoint_pin"),
]
