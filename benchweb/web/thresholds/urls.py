"""Addresses: thresholds."""

from django.urls import path

from benchweb.web.thresholds.views import ThresholdPages, threshold_preview

urlpatterns = [
    *ThresholdPages().paths(),
    path("thresholds/preview", threshold_preview, name="threshold_preview"),
]
