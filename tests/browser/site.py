"""A site that has something to show on every page, and the addresses of all of them."""

import base64
from dataclasses import dataclass, replace
from datetime import timedelta

from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from hdrh.histogram import HdrHistogram

from benchweb.accounts.login.invitations import invitation_create, invitation_path
from benchweb.accounts.roles.grants import member_add, role_set, team_create
from benchweb.accounts.saved_views import view_save
from benchweb.accounts.services import token_create
from benchweb.annotations.services import annotation_create
from benchweb.dashboards.services import dashboard_create, tile_add
from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.probing.probes import Probe, ProbedLoad, probes_record
from benchweb.hosts.services import archive
from benchweb.imports.models import OwnKind
from benchweb.notifications.kinds.table import CHANNEL_KINDS
from benchweb.notifications.services import RuleValues, WindowValues, rule_create, window_create
from benchweb.plans.models import Plan
from benchweb.regressions.baselines import baseline_pin
from benchweb.regressions.models import Alert
from benchweb.regressions.thresholds.rules import ThresholdValues, threshold_archive, threshold_create
from benchweb.regressions.thresholds.sensitivities import SensitivityScope, sensitivity_create
from benchweb.results.ingest import ingest, parsed_result
from benchweb.results.models import Series
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Schedule, Slot
from benchweb.sharing.models import Share
from benchweb.sharing.services import share_revoke
from tests.browser.steps import PASSWORD
from tests.charts.history_rows import DAY, past_run
from tests.factories import (
    make_alert,
    make_channel,
    make_endpoint,
    make_pair,
    make_plan,
    make_run,
    make_schedule,
    make_user,
)
from tests.hosts.nights_alone import measured_alone
from tests.regressions.slow.nights import make_slow_change
from tests.reports.scene import imported_run, make_report
from tests.sharing.scene import shared, told_run

NIGHTS = 4
RR = [{"kind": "tcp_rr", "params": {"request_size_bytes": 1}}]
STREAM = [{"kind": "udp_stream", "params": {"message_size_bytes": 64}}]
# Pages for whoever is not logged in.
OF_STRANGERS = {"login", "password_forgotten", "new_password", "first_admin", "invitation", "shared", "shared_embed"}
# Views that answer with a part of a page, a file, or nothing but a redirection.
NO_PAGES = {
    *(
        "logout",
        "run_charts",
        "run_csv",
        "run_json",
        "run_tool_file",
        "run_cancel",
        "run_again",
        "trial_document",
        "trial_charts",
        "trial_intervals",
    ),
    *(
        "run_badge",
        "run_events",
        "live",
        "matrix_csv",
        "audit_csv",
        "shares_end",
        "matrix_picture",
        "compare_charts",
        "compare_csv",
        "compare_json",
        "compare_repeat",
        "matrix_target_add",
        "matrix_target",
    ),
    *(
        "host_command",
        "endpoint_check",
        "endpoint_watch",
        "endpoint_pin",
        "endpoint_rotate",
        "pair_check",
        "pair_watch",
    ),
    *("pair_mesh_summary", "install_script", "install_program", "install_claim", "install_ready"),
    *("host_watch", "host_known", "host_import_preview"),
    *("plan_steps", "plan_preview", "plan_detectable", "plan_keep", "plans_archive", "plan_main_size"),
    *("run_queue", "runs_bulk", "pairs_archive", "hosts_archive", "campaigns_cancel", "columns_save"),
    *("ticked_compare", "ticked_export", "campaigns_label"),
    *("hosts_restore", "hosts_label", "pairs_label", "plans_label", "pairs_restore", "plans_restore"),
    *(
        "launch_choice",
        "import_preview",
        "language",
        "suggestions",
        "saved_views_menu",
        "saved_view_save",
        "saved_view_change",
        "saved_view_withdraw",
        "ticket_end",
        "session_end",
        "session",
    ),
    *("sessions_end", "help_image", "threshold_preview"),
    *("schedule_preview", "schedule_pairs", "schedule_outlook", "schedule_pause", "schedule_resume", "schedule_run"),
    *("schedule_cancel", "channel_test", "mail_test", "channel_enable", "alert_move", "alert_charts", "alerts_triage"),
    *("host_silence", "original_make", "sample_make", "sample_remove"),
    "alerts_count",
    *(
        "campaign_cancel",
        "history_csv",
        "history_charts",
        "annotation_add",
        "annotation_remove",
        "annotation_restore",
        "share_revoke",
    ),
    *("shared_csv", "shared_json", "shared_markdown", "view_csv", "view_json", "view_markdown", "shared_badge"),
    "share_unlock",
    *(f"{row}_restore" for row in ("host", "endpoint", "environment", "pair", "plan", "schedule")),
    *(f"{row}_restore" for row in ("channel", "rule", "window", "threshold", "sensitivity", "baseline")),
    *("user_link", "invitation_end"),
    *("user_role", "user_team", "user_activate", "role_take", "team_role", "team_member_add", "team_member_remove"),
    "run_baseline",
    "report_markdown",
    "own_change",
    "report_restore",
    *("dashboard_tile", "dashboard_change", "dashboard_restore", "tile_move"),
    "provider_login",
}


@dataclass(frozen=True)
class Address:
    """Where a page is, and the name of its URL."""

    name: str
    path: str
    status: int = 200


def names_of_pages() -> set[str]:
    """Return the name of every URL of the site that answers with a page."""
    web = next(each for each in _resolvers(get_resolver()) if each.app_name == "web")
    features = [pattern for feature in _resolvers(web) for pattern in feature.url_patterns]
    names = {each.name for each in features if isinstance(each, URLPattern) and each.name}
    return (names | {"mfa_index", "account_reauthenticate"}) - NO_PAGES


def _resolvers(parent: URLResolver) -> list[URLResolver]:
    return [each for each in parent.url_patterns if isinstance(each, URLResolver)]


def filled_site() -> list[Address]:
    """Fill the database; return every page, some in several states. Ada may see all of it."""
    user = make_user("ada", PASSWORD)
    run, pair = told_run(), make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    nights = _nights(pair)
    schedule = make_schedule(target={"pairs": [pair.pk]})
    _slots(schedule, nights[0])
    _probes(pair.source)
    annotation_create(text="new switch", at=timezone.now() - 2 * DAY, pair=pair)
    view_save(user=user, name="loss of alder", path="/history?view=time")
    token, _ = token_create(user=user, name="script")
    pages = [*_lists(), *_definitions(pair, nights[0].plan_version.plan, schedule)]
    pages += [*_of_runs(run, nights), *_history(), *_shares(run), Address("token_revoke", f"/tokens/{token.pk}/revoke")]
    pages += [*_alerts(pair), *_limits(nights[0]), *_reports(), *_dashboards(pair), *_users(user, pair)]
    # An archived row's page stands, and tells it.
    archive(row=(cedar := make_endpoint(host_name="cedar").host))
    return [
        *pages,
        Address("host_delete", f"/hosts/{cedar.pk}/delete"),
        Address("run_delete", f"/runs/{run.pk}/delete"),
    ]


def _lists() -> list[Address]:
    plain = ("environments", "pairs", "plans", "schedules", "timeline", "campaigns", "runs", "tokens", "hosts")
    return [
        Address("overview", "/"),
        *(Address(name, f"/{name}") for name in plain),
        Address("hosts", "/hosts?archived=1"),
        Address("pairs", "/pairs?q=no-such-host"),
        Address("week", "/timeline/week"),
        Address("matrix", "/matrix"),
        Address("matrix", "/matrix?by=mode"),
        Address("matrix", "/matrix?with=yesterday"),
        Address("fact_changes", "/fact-changes"),
        Address("audit", "/audit"),
        Address("site_settings", "/settings"),
        Address("health", "/health"),
        Address("intervals_preview", "/settings/intervals?days=90"),
        Address("details_preview", "/settings/details?days=90"),
        Address("shares", "/shares"),
        Address("shares", "/shares?ended=1"),
        Address("saved_views", "/views"),
        Address("tickets", "/hosts/tickets"),
        Address("account", "/account"),
        Address("help", "/help"),
        Address("help_api", "/help/api"),
        Address("logged_in", "/session/logged-in"),
        Address("glossary", "/help/glossary"),
        Address("help_document", "/help/docs/explanation/regressions"),
        Address("help_document", "/help/docs/engine"),
        Address("password", "/account/password"),
        Address("mail_address", "/account/mail"),
        # The others of second factors ask for the password first: tests/browser/login/test_second_factors.py.
        Address("mfa_index", "/account/factors"),
        Address("account_reauthenticate", "/account/confirm"),
        Address("search", "/search?q=quartz"),
        Address("search", "/search?q=nothing-of-this-name"),
        Address("not found", "/no-such-page", 404),
    ]


def _definitions(pair: Pair, plan: Plan, schedule: Schedule) -> list[Address]:
    rows = {
        "host": f"/hosts/{pair.source.host_id}",
        "endpoint": f"/endpoints/{pair.source_id}",
        "environment": f"/environments/{pair.environment_id}",
        "pair": f"/pairs/{pair.pk}",
        "plan": f"/plans/{plan.pk}",
        "schedule": f"/schedules/{schedule.pk}",
    }
    new = [Address(f"{name}_new", f"/{name}s/new") for name in rows if name != "endpoint"]
    own = [Address(name, path) for name, path in rows.items() if name != "endpoint"]
    changed = [Address(f"{name}_{act}", f"{path}/{act}") for name, path in rows.items() for act in ("edit", "archive")]
    others = [
        Address("endpoint_new", f"{rows['host']}/endpoints/new"),
        Address("plan_launch", f"{rows['plan']}/launch"),
        Address("pair_mesh", "/pairs/mesh?shape=hub"),
        Address("host_import", "/hosts/import"),
        Address("plan_versions", f"{rows['plan']}/versions"),
        Address("plan_new", "/plans/new?template=baseline"),
    ]
    kind = OwnKind.objects.create(name="own.boot", label="Boot", metrics=[], parameters={"image": "string"})
    others += [
        Address("own_definitions", "/own-kinds"),
        Address("own_removal", f"/own-kinds/kind/{kind.pk}/delete"),
    ]
    fetched = Address("host_availability", f"{rows['host']}/availability")
    return [*new, *own, fetched, *changed, *others, Address("launch", "/launch"), Address("imports", "/imports")]


def _alerts(pair: Pair) -> list[Address]:
    alert, channel = make_alert(pair=pair), make_channel()
    make_alert(Alert.State.RECOVERED, pair=pair)
    rule = rule_create(RuleValues(name="everything", channel=channel))
    begins_at = timezone.now()
    slow = make_slow_change(Series.objects.filter(pair=pair)[0], begins_at.date())
    window = window_create(
        WindowValues(name="new switch", begins_at=begins_at, ends_at=begins_at + DAY, host=pair.source.host)
    )
    rows = {
        "channel": f"/notifications/channels/{channel.pk}",
        "rule": f"/notifications/rules/{rule.pk}",
        "window": f"/notifications/maintenance/{window.pk}",
    }
    return [
        Address("alerts", "/alerts"),
        Address("alerts", "/alerts?state=all"),
        Address("alerts", "/alerts?state=all&group=host"),
        Address("alert", f"/alerts/{alert.pk}"),
        Address("alert_why", f"/alerts/{alert.pk}/why"),
        Address("morning", "/morning"),
        Address("morning", f"/morning?night={slow.look.night}&zone=UTC"),
        Address("morning_why", "/morning/why"),
        Address("host_why", f"/hosts/{pair.source.host_id}/why"),
        Address("notifications", "/notifications"),
        Address("notifications", "/notifications?archived=1"),
        *(Address("channel_new", f"/notifications/channels/new/{kind}") for kind in CHANNEL_KINDS),
        Address("channel", rows["channel"]),
        *(Address(f"{name}_{act}", f"{path}/{act}") for name, path in rows.items() for act in ("edit", "archive")),
        Address("rule_new", "/notifications/rules/new"),
        Address("window_new", "/notifications/maintenance/new"),
    ]


def _limits(run: Run) -> list[Address]:
    baseline = baseline_pin(run=run, name="since release 5.2", by=None)
    values = ThresholdValues("slow", "udp_stream", "throughput_bps", "below", 5e9, plan=run.plan_version.plan)
    threshold, old = threshold_create(values, by=None), threshold_create(replace(values, name="old"), by=None)
    threshold_archive(threshold=old, by=None)
    sensitivity = sensitivity_create(SensitivityScope(plan=run.plan_version.plan), floor_ratio=0.05, noise_times=None)
    sensitivity_create(
        SensitivityScope(environment=run.pair.environment, kind="ping"), floor_ratio=None, noise_times=6.0
    )
    return [
        Address("sensitivities", "/sensitivities"),
        Address("sensitivities", "/sensitivities?archived=1"),
        Address("sensitivity_new", "/sensitivities/new"),
        *(Address(f"sensitivity_{act}", f"/sensitivities/{sensitivity.pk}/{act}") for act in ("edit", "archive")),
        Address("thresholds", "/thresholds"),
        Address("thresholds", "/thresholds?archived=1"),
        Address("threshold_new", "/thresholds/new"),
        *(Address(f"threshold_{act}", f"/thresholds/{threshold.pk}/{act}") for act in ("edit", "archive")),
        Address("baselines", "/baselines"),
        Address("baseline_new", f"/runs/{run.pk}/pin"),
        Address("baseline_archive", f"/baselines/{baseline.pk}/archive"),
    ]


def _dashboards(pair: Pair) -> list[Address]:
    board = dashboard_create(user=User.objects.order_by("pk")[0], name="The wall")
    history, matrix = f"/history?pair={pair.pk}", "/matrix"
    for path, width in ((history, "half"), (f"/pairs/{pair.pk}", "half"), (matrix, "whole")):
        tile_add(dashboard=board, path=path, part="", width=width)
    return [
        Address("dashboards", "/dashboards"),
        Address("dashboard", f"/dashboards/{board.pk}"),
        Address("dashboard", f"/dashboards/{board.pk}?arrange=1"),
        Address("tile_new", f"/dashboards/add?path={history}"),
    ]


def _reports() -> list[Address]:
    run = imported_run("netperf_sizes.md")
    report = make_report(run)
    methods = make_report(imported_run("four_tools.md"), template="methods")
    return [
        Address("reports", "/reports"),
        Address("reports", "/reports?archived=1"),
        Address("report_new", "/reports/new"),
        Address("report", f"/reports/{report.pk}"),
        Address("report", f"/reports/{methods.pk}"),
        Address("import_delete", f"/runs/{run.pk}/import/delete"),
        *(Address(f"report_{act}", f"/reports/{report.pk}/{act}") for act in ("edit", "archive")),
    ]


def _users(user: User, pair: Pair) -> list[Address]:
    other, team = User.objects.create_user("vera"), team_create(name="night shift")
    member_add(team=team, user=other)
    role_set(role="operator", team=team, environment_id=pair.environment_id)
    role_set(role="viewer", user=other)
    _, token = invitation_create(by=user, lasts=DAY, email="otto@example.org", role="editor", team_ids=[team.pk])
    return [
        Address("users", "/users"),
        Address("users", "/users?inactive=1"),
        Address("user", f"/users/{user.pk}"),
        Address("user", f"/users/{other.pk}"),
        Address("services", "/users/services"),
        Address("user_deactivate", f"/users/{other.pk}/deactivate"),
        Address("user_new", "/users/new"),
        Address("invitations", "/invitations"),
        Address("invitation_new", "/invitations/new"),
        Address("invitation", invitation_path(token)),
        Address("invitation", "/login/invitation/used", 404),
        Address("teams", "/teams"),
        Address("team_new", "/teams/new"),
        Address("team", f"/teams/{team.pk}"),
        *(Address(f"team_{act}", f"/teams/{team.pk}/{act}") for act in ("edit", "delete")),
    ]


def _of_runs(run: Run, nights: list[Run]) -> list[Address]:
    pending, measured = make_run(), _measured(nights[0].pair)
    return [
        Address("run", f"/runs/{run.pk}"),
        Address("run", f"/runs/{measured.pk}?published=1"),
        Address("trial", f"/runs/{measured.pk}/trials/1"),
        Address("run", f"/runs/{pending.pk}"),
        Address("run_changed", f"/runs/{run.pk}/changed"),
        Address("quick_test", "/quick-test"),
        Address("trial", f"/runs/{run.pk}/trials/1"),
        Address("trial", f"/runs/{pending.pk}/trials/1"),
        Address("campaign", f"/campaigns/{pending.campaign_id}"),
        Address("compare", "/compare"),
        Address("compare", f"/compare?runs={measured.pk},{_measured(nights[0].pair).pk}"),
        Address("compare", f"/compare?side=pair%3D{nights[0].pair_id}&side=plan%3D{nights[0].plan_version.plan_id}"),
        Address("compare_sets", "/compare/sets"),
        Address("view_shares", f"/share?path=/pairs/{nights[0].pair_id}"),
        Address("view_preview", f"/share/preview?path=/pairs/{nights[0].pair_id}"),
    ]


def _history() -> list[Address]:
    return [
        Address("history", "/history?over=30d"),
        Address("history", "/history?kind=tcp_rr&over=30d&view=heat"),
        Address("history", "/history?over=30d&view=sizes"),
    ]


def _shares(run: Run) -> list[Address]:
    _, path = shared(run, anonymise=True)
    expired, old = shared(run)
    Share.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - DAY)
    revoked, dead = shared(run)
    share_revoke(share_id=revoked.pk)
    return [
        Address("run_shares", f"/runs/{run.pk}/shares"),
        Address("run_preview", f"/runs/{run.pk}/shares/preview?anonymise=1"),
        Address("shared", path),
        Address("shared_embed", f"{path}/embed"),
        Address("shared_embed", f"{path}/embed?chart=none", 404),
        Address("shared", old, 410),
        Address("shared", dead, 410),
        Address("shared", "/s/no-such-link", 404),
        Address("login", "/login"),
        Address("first_admin", "/first-admin", 404),
        Address("password_forgotten", "/login/forgotten"),
        Address("new_password", "/login/new-password/MQ/used"),
    ]


def _nights(pair: Pair) -> list[Run]:
    """Make some nights of two kinds, and one without a result."""
    made = HdrHistogram(1, 60_000_000_000, 3)
    for microseconds in (90, 100, 100, 400):
        made.record_value(microseconds * 1_000)
    histogram = base64.b64decode(made.encode())
    plans = make_plan(steps=STREAM, name="streams"), make_plan(steps=RR, name="requests")
    now, runs = timezone.now().replace(microsecond=0), []
    for night in range(NIGHTS, 0, -1):
        at = now - night * DAY
        rates = [{"throughput_bps": 1e9 * (night + n / 9), "loss_ratio": 0.001 * night} for n in range(4)]
        runs.append(past_run(plans[0], pair, at, *rates))
        latencies = {"latency_p50_seconds": 1e-4 * night, "latency_p99_seconds": 4e-4, "transactions_per_second": 3e4}
        past_run(plans[1], pair, at + timedelta(hours=1), latencies, histogram=histogram)
    past_run(plans[0], pair, now - timedelta(hours=2), state=State.FAILED, reason="no route to host")
    return runs


def _measured(pair: Pair) -> Run:
    """Make a finished run of two sizes whose trials have a course, limits and flags."""
    run = make_run(pair=pair, steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": [64, 16384]}}])
    for trial in run.trials.order_by("index"):
        rate = {"throughput_bps": trial.index * 1e9}
        course = [{"start_seconds": second, "end_seconds": second + 1, "metrics": rate} for second in range(3)]
        document = {"kind": trial.kind, "metrics": rate, "flags": ["same_host"], "intervals": course}
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return run


def _slots(schedule: Schedule, run: Run) -> None:
    now = timezone.now()
    Slot.objects.create(schedule=schedule, at=now - DAY, state="finished", claimed_at=now - DAY, campaign=run.campaign)
    reason = "no worker was there"
    Slot.objects.create(schedule=schedule, at=now - 2 * DAY, state="missed", reason=reason, claimed_at=now)


def _probes(endpoint: Endpoint) -> None:
    load = ProbedLoad(cpu_ratio=0.25, received_bps=4e9, sent_bps=1e9, link_bps=25e9)
    for ago in range(12, 0, -1):
        found = Probe(endpoint.pk, endpoint.control_address, "answered", "answered", "", 0.002, load)
        if ago == 6:
            found = Probe(endpoint.pk, endpoint.control_address, "engine_down", "unreachable", "Connection refused")
        probes_record(probes=[found], at=timezone.now() - timedelta(minutes=ago))
    measured_alone(endpoint, [9, 8, 7, 4, 3, 1])
