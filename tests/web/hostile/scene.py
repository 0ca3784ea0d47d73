"""A scene of which every page shows something, with hostile text wherever text can be."""

import re
from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.imports.models import OwnMetric
from benchweb.imports.own_kinds import MetricDefinition, definitions
from benchweb.imports.pushes import Push, PushedMetric, push_result
from benchweb.notifications.messages import event_payload
from benchweb.notifications.models import Delivery
from benchweb.results.run_summaries import rebuild
from benchweb.runs.models import Run
from tests.factories import make_alert, make_channel, make_schedule, make_threshold
from tests.notifications.events import make_event
from tests.regressions.judged import judged, quiet
from tests.reports.scene import make_report
from tests.sharing.scene import told_run
from tests.web.hostile.planted import fill_empty, plant

_LINK = re.compile(r'value="http://testserver(/s/[^"]+)"')


def make_scene(admin: User) -> None:
    """Make runs of an engine and of another system, alerts and all the rest; then plant hostile text in all of it."""
    run = told_run()
    quiet(run.pair, 20)
    judged(run.pair, [0.8] * 6, first=20)
    for night in range(4):
        _push_boot(run.pair, admin, night)
    make_schedule(target={"pairs": [run.pair_id]})
    make_alert(pair=run.pair)
    make_threshold(pair=run.pair)
    make_report(run)
    Delivery.objects.create(channel=make_channel(), event_id="1", message_id="1", payload=event_payload(make_event()))
    rebuild()
    fill_empty()
    # The audit log lets nothing be changed; what is planted comes into it by itself.
    assert {name.rpartition(".")[0] for name in plant()} == {"accounts.AuditEntry"}
    definitions.read_now()


def _push_boot(pair: Pair, user: User, night: int) -> None:
    """Push a result of a kind of one's own, whose spread is told as a range in the metric's unit."""
    metric = {"label": "Boot", "unit": "s", "better": "lower"}
    OwnMetric.objects.get_or_create(key="boot_level", defaults=metric)
    push = Push(
        key=f"night {night}",
        tool="bootlab",
        kind="boot",
        params={"image": "debian-12"},
        metrics=[PushedMetric(MetricDefinition("boot_level"), [1.0 + night, 5.0, 9.0])],
        content=str(night),
        at=timezone.now() - timedelta(days=9 - night),
    )
    push_result(push, pair=pair, user=user)


def made_links(member: Client) -> list[str]:
    """Share runs and views by their forms; return the links' paths."""
    pages = [
        member.post(f"/runs/{run.pk}/shares", {"lasts": "7"} | hidden)
        for run in Run.objects.filter(state__in=["finished", "failed"]).order_by("-pk")[:2]
        for hidden in ({}, {"anonymise": "on"})
    ]
    pair = Pair.objects.order_by("pk").first()
    assert pair is not None
    views = ("/matrix", f"/history?pair={pair.pk}&kind=own.boot&over=all", f"/pairs/{pair.pk}")
    for path in views:
        pages += [member.post("/share", {"path": path, "shows": shows, "lasts": "7"}) for shows in ("frozen", "live")]
    return [link for page in pages for link in _LINK.findall(page.content.decode())]
