"""Addresses: what is done with rows ticked in a list."""

from django.urls import path

from benchweb.web.chosen_rows import labels, views

urlpatterns = [
    path("lists/<slug:list_name>/compare", views.ticked_compare, name="ticked_compare"),
    path("lists/<slug:list_name>/export", views.ticked_export, name="ticked_export"),
    path("hosts/label", labels.hosts_label, name="hosts_label"),
    path("pairs/label", labels.pairs_label, name="pairs_label"),
    path("plans/label", labels.plans_label, name="plans_label"),
]
