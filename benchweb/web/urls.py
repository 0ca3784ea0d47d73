"""Pages: stable addresses, all view state in the query string."""

from django.urls import include, path

app_name = "web"
urlpatterns = [
    path("", include("benchweb.web.overview.urls")),
    path("", include("benchweb.web.account.urls")),
    path("", include("benchweb.web.history.urls")),
    path("", include("benchweb.web.runs.urls")),
    path("", include("benchweb.web.trials.urls")),
    path("", include("benchweb.web.live.urls")),
    path("", include("benchweb.web.matrix.urls")),
    path("", include("benchweb.web.compare.urls")),
    path("", include("benchweb.web.hosts.urls")),
    path("", include("benchweb.web.environments.urls")),
    path("", include("benchweb.web.pairs.urls")),
    path("", include("benchweb.web.plans.urls")),
    path("", include("benchweb.web.launch.urls")),
    path("", include("benchweb.web.schedules.urls")),
    path("", include("benchweb.web.campaigns.urls")),
    path("", include("benchweb.web.timeline.urls")),
    path("", include("benchweb.web.shares.urls")),
    path("", include("benchweb.web.alerts.urls")),
    path("", include("benchweb.web.notifications.urls")),
    path("", include("benchweb.web.search.urls")),
]
