"""Addresses: reports."""

from django.urls import path

from benchweb.web.reports import views

urlpatterns = [
    *views.ReportPages().paths(),
    path("reports/<int:report_id>", views.report_page, name="report"),
    path("reports/<int:report_id>/report.md", views.report_markdown_file, name="report_markdown"),
]
