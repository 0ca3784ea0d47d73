"""Addresses: thresholds."""

from benchweb.web.thresholds.views import ThresholdPages

urlpatterns = ThresholdPages().paths()
