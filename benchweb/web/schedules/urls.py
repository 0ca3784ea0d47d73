"""Addresses: schedules."""

from django.urls import path

from benchweb.web.schedules import form_views, views

urlpatterns = [
    path("schedules", views.schedule_list, name="schedules"),
    path("schedules/new", form_views.schedule_new, name="schedule_new"),
    path("schedules/preview", form_views.schedule_preview_part, name="schedule_preview"),
    path("schedules/pairs", form_views.schedule_pairs, name="schedule_pairs"),
    path("schedules/<int:schedule_id>", views.schedule_page, name="schedule"),
    path("schedules/<int:schedule_id>/outlook", views.schedule_outlook, name="schedule_outlook"),
    path("schedules/<int:schedule_id>/edit", form_views.schedule_edit, name="schedule_edit"),
    path("schedules/<int:schedule_id>/pause", views.schedule_pause, name="schedule_pause"),
    path("schedules/<int:schedule_id>/resume", views.schedule_resume, name="schedule_resume"),
    path("schedules/<int:schedule_id>/run", views.schedule_run, name="schedule_run"),
    path("schedules/<int:schedule_id>/cancel", views.schedule_cancel, name="schedule_cancel"),
    *views.SchedulePages().paths(),
]
