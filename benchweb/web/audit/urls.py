"""Addresses: the audit log."""

from django.urls import path

from benchweb.web.audit import views

urlpatterns = [
    path("audit", views.audit_log, name="audit"),
    path("audit.csv", views.audit_csv, name="audit_csv"),
]
