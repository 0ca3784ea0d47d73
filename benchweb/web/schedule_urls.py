"""URLs of what runs by itself: schedules, campaigns, the timeline and the calendar."""

from django.urls import path

from benchweb.web.views import campaigns, schedules, timeline

urlpatterns = [
    path("schedules", schedules.schedule_list, name="schedules"),
    path("schedules/new", schedules.schedule_new, name="schedule_new"),
    path("schedules/preview", schedules.schedule_preview_part, name="schedule_preview"),
    path("schedules/pairs", schedules.schedule_pairs, name="schedule_pairs"),
    path("schedules/<int:schedule_id>", schedules.schedule_page, name="schedule"),
    path("schedules/<int:schedule_id>/outlook", schedules.schedule_outlook, name="schedule_outlook"),
    path("schedules/<int:schedule_id>/edit", schedules.schedule_edit, name="schedule_edit"),
    path("schedules/<int:schedule_id>/pause", schedules.schedule_pause, name="schedule_pause"),
    path("schedules/<int:schedule_id>/resume", schedules.schedule_resume, name="schedule_resume"),
    path("schedules/<int:schedule_id>/run", schedules.schedule_run, name="schedule_run"),
    path("schedules/<int:schedule_id>/cancel", schedules.schedule_cancel, name="schedule_cancel"),
    path("schedules/<int:schedule_id>/archive", schedules.schedule_archive, name="schedule_archive"),
    path("schedules/<int:schedule_id>/restore", schedules.schedule_restore, name="schedule_restore"),
    path("campaigns", campaigns.campaign_list, name="campaigns"),
    path("campaigns/<int:campaign_id>", campaigns.campaign_page, name="campaign"),
    path("campaigns/<int:campaign_id>/cancel", campaigns.campaign_cancel_page, name="campaign_cancel"),
    path("timeline", timeline.timeline_page, name="timeline"),
    path("timeline/week", timeline.week_page, name="week"),
]
