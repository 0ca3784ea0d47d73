"""Addresses: sensitivities."""

from benchweb.web.sensitivities.views import SensitivityPages

urlpatterns = SensitivityPages().paths()
