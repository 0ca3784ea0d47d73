"""Addresses: changes of facts on all hosts."""

from django.urls import path

from benchweb.web.facts import views

urlpatterns = [path("fact-changes", views.fact_changes, name="fact_changes")]
