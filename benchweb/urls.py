"""URLs: pages at the root, REST under /api/v1, health beside them."""

from django.urls import include, path

from benchweb.api.urls import api
from benchweb.ops.health.views import healthz, livez, metrics, readyz

handler403 = "benchweb.web.access.refusals.refused"
urlpatterns = [
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("api/v1/", api.urls),
    path("", include("benchweb.web.urls")),
    path("", include("benchweb.web.login.library_urls")),
    path("", include("benchweb.web.second_factors.urls")),
]
