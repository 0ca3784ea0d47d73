"""Pages: stable URLs, all view state in the query string."""

from django.urls import path

from benchweb.web import definition_urls, history_urls, reader_urls, schedule_urls, share_urls
from benchweb.web.views import compare, live, matrix, overview, runs, session, trials

app_name = "web"
urlpatterns = [
    # The most asked for come first: to try ninety others takes a twentieth of a chart's time.
    *history_urls.urlpatterns,
    path("login", session.Login.as_view(), name="login"),
    path("logout", session.Logout.as_view(), name="logout"),
    path("", overview.overview, name="overview"),
    path("runs", runs.run_list, name="runs"),
    path("runs/<int:run_id>", runs.run_page, name="run"),
    path("runs/<int:run_id>/charts.json", runs.run_charts_json, name="run_charts"),
    path("runs/<int:run_id>/results.csv", runs.run_csv_file, name="run_csv"),
    path("runs/<int:run_id>/results.json", runs.run_json_file, name="run_json"),
    path("runs/<int:run_id>/cancel", runs.run_cancel_page, name="run_cancel"),
    path("runs/<int:run_id>/again", runs.run_again, name="run_again"),
    path("runs/<int:run_id>/trials/<int:index>", trials.trial_page, name="trial"),
    path(
        "runs/<int:run_id>/trials/<int:index>/document.json",
        trials.trial_document_file,
        name="trial_document",
    ),
    path(
        "runs/<int:run_id>/trials/<int:index>/intervals.csv",
        trials.trial_intervals_file,
        name="trial_intervals",
    ),
    path("runs/<int:run_id>/trials/<int:index>/charts.json", trials.trial_charts_json, name="trial_charts"),
    path("runs/<int:run_id>/badge.svg", runs.run_badge, name="run_badge"),
    path("runs/<int:run_id>/events", live.run_events, name="run_events"),
    path("live", live.live, name="live"),
    path("matrix", matrix.matrix, name="matrix"),
    path("matrix.csv", matrix.matrix_csv_file, name="matrix_csv"),
    path("matrix.png", matrix.matrix_picture_file, name="matrix_picture"),
    path("compare", compare.compare_page, name="compare"),
    path("compare/charts.json", compare.compare_charts_json, name="compare_charts"),
    path("compare/results.csv", compare.compare_csv_file, name="compare_csv"),
    path("compare/results.json", compare.compare_json_file, name="compare_json"),
    *definition_urls.urlpatterns,
    *reader_urls.urlpatterns,
    *schedule_urls.urlpatterns,
    *share_urls.urlpatterns,
]
