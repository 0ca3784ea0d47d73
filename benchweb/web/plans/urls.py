"""Addresses: plans."""

from django.urls import path

from benchweb.web.plans import views

urlpatterns = [
    path("plans", views.plan_list, name="plans"),
    path("plans/new", views.plan_new, name="plan_new"),
    path("plans/archive", views.plans_archive, name="plans_archive"),
    path("plans/restore", views.plans_restore, name="plans_restore"),
    path("plans/steps", views.plan_steps, name="plan_steps"),
    path("plans/preview", views.plan_preview, name="plan_preview"),
    path("plans/<int:plan_id>", views.plan_page, name="plan"),
    path("plans/<int:plan_id>/detectable", views.plan_detectable, name="plan_detectable"),
    path("plans/<int:plan_id>/versions", views.plan_versions, name="plan_versions"),
    path("plans/<int:plan_id>/keep", views.plan_keep, name="plan_keep"),
    path("plans/<int:plan_id>/main-size", views.plan_main_size, name="plan_main_size"),
    path("plans/<int:plan_id>/edit", views.plan_edit, name="plan_edit"),
    *views.PlanPages().paths(),
]
