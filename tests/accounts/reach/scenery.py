"""Two environments with a row of everything that belongs to one, each with hosts of its own."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from benchweb.annotations.services import annotation_create
from benchweb.hosts.models import Endpoint, Environment, Pair
from benchweb.hosts.services import archive, pair_create
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Schedule
from tests.accounts.routes import NO_ROW
from tests.factories import make_alert, make_endpoint, make_pair, make_run, make_schedule
from tests.sharing.scene import shared

_NAMED = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True)
class Site:
    """An environment, a pair in it, and what is about that pair; `schedule` runs it."""

    pair: Pair
    run: Run
    schedule: Schedule
    alert: int
    note: int
    share: int

    @property
    def environment(self) -> Environment:
        return self.pair.environment

    @property
    def ends(self) -> list[int]:
        return [self.pair.source_id, self.pair.sink_id]

    def address(self, path: str) -> str:
        """Return the address with this site's rows in place of what it names."""
        known = {
            "environment_id": self.environment.pk,
            "pair_id": self.pair.pk,
            "run_id": self.run.pk,
            "campaign_id": self.run.campaign_id,
            "plan_id": self.run.plan_version.plan_id,
            "schedule_id": self.schedule.pk,
            "alert_id": self.alert,
            "annotation_id": self.note,
            "share_id": self.share,
        }
        return _NAMED.sub(lambda match: str(known.get(match[1], NO_ROW)), path)


def make_site(name: str) -> Site:
    """Make one; its run is there to be measured again, and its pair leads in one direction only."""
    pair = make_pair(environment=name)
    run = make_run(pair=pair, name=f"plan of {name}", repetitions=3)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return Site(
        pair,
        run,
        make_schedule(name=name, plan=run.plan_version.plan, target={"pairs": [pair.pk]}),
        make_alert(pair=pair).pk,
        annotation_create(text="rewired", at=datetime(2026, 1, 1, tzinfo=UTC), pair=pair).pk,
        shared(run)[0].pk,
    )


def new_host() -> Endpoint:
    """Make a host that is in no environment yet."""
    return make_endpoint()


def archived_pair(site: Site, ends: list[Endpoint], *, hosts_leave: bool) -> Pair:
    """Make and archive a pair in the site's environment, of hosts that have left it since."""
    source, sink = ends
    pair = pair_create(source=source, sink=sink, environment=site.environment)
    archive(row=pair)
    if hosts_leave:
        for end in ends:
            inside = [number for number in end.host.environment_ids if number != site.environment.pk]
            type(end.host).objects.filter(pk=end.host_id).update(environment_ids=inside)
    return pair


def both_ways(site: Site) -> None:
    """Make the pair that the site lacks for a mesh of its hosts."""
    pair_create(source=site.pair.sink, sink=site.pair.source, environment=site.environment)
