"""Addresses: reports."""

from django.urls import path

from benchweb.web.reports import views

urlpatterns = [
    path("reports", views.report_list, name="reports"),
    path("reports/new", views.report_new, name="report_new"),
    path("reports/<int:report_id>", views.report_page, name="report"),
    path("reports/<int:report_id>/report.md", views.report_markdown_file, name="report_markdown"),
    path("reports/<int:report_id>/edit", views.report_edit, name="report_edit"),
    path("reports/<int:report_id>/archive", views.report_archive_page, name="report_archive"),
    path("reports/<int:report_id>/restore", views.report_restore_page, name="report_restore"),
]
