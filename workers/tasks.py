"""Celery tasks: thin, carrying ids (or what somebody typed); none of them waits on the network."""

from typing import Any

from celery import shared_task

from benchweb.accounts.login import password_reset
from benchweb.hosts.enrolment import rotation
from benchweb.ops import sample
from benchweb.regressions import judgements
from benchweb.regressions.slow import looks
from benchweb.site.installation import is_copy
from workers import notifying, ticking
from workers.background import in_background
from workers.checks import check, path_check, probe
from workers.engines import rotating
from workers.resting import Rest
from workers.runner import runner

_rest = Rest()


@shared_task(name="workers.tasks.execute_runs")
def execute_runs(run_ids: list[int]) -> None:
    """Take these runs, as far as there is room for them and it is this worker's turn; a copy takes none."""
    if is_copy():
        return
    for run_id in run_ids:
        runner().take(run_id)


@shared_task(name="workers.tasks.check_endpoint")
def check_endpoint(endpoint_id: int) -> None:
    """Check an endpoint's engine."""
    in_background(check.check, endpoint_id)


@shared_task(name=rotation.ROTATE_TASK)
def rotate_endpoint(endpoint_id: int, what: str, actor: dict[str, Any] | None) -> None:
    """Replace the token or certificate of an endpoint's engine."""
    in_background(rotating.rotate, endpoint_id, what, actor)


@shared_task(name="workers.tasks.probe_endpoints")
def probe_endpoints(endpoint_ids: list[int]) -> None:
    """Probe these endpoints' engines."""
    in_background(probe.probe, endpoint_ids)


@shared_task(name="workers.tasks.check_paths")
def check_paths(pair_ids: list[int]) -> None:
    """Check the data paths of these pairs."""
    for pair_id in pair_ids:
        in_background(path_check.check, pair_id)


@shared_task(name="workers.tasks.send_notifications")
def send_notifications() -> None:
    """Send what is due of the outbox."""
    notifying.wake()


@shared_task(name=password_reset.TASK)
def mail_password_reset(email: str, language: str) -> None:
    """Mail links for a new password to the accounts with this address."""
    in_background(password_reset.reset_mail, email, language)


@shared_task(name=password_reset.WARNING_TASK)
def mail_factor_warning(user_id: int, address: str) -> None:
    """Tell a user that somebody has their password."""
    in_background(password_reset.factor_warning_mail, user_id, address)


@shared_task(name="workers.tasks.judge_runs")
def judge_runs(run_ids: list[int]) -> None:
    """Judge these runs, beside what waits for the network."""
    in_background(judgements.judge_all, run_ids)


@shared_task(name=looks.TASK)
def take_slow_looks() -> None:
    """Look at the nights of the environments whose morning it is, beside what waits for the network."""
    in_background(looks.take_due_looks)


@shared_task(name=sample.TASK)
def make_sample() -> None:
    """Make the sample environment, beside what waits for the network."""
    in_background(sample.make)


@shared_task(name="workers.tasks.tick")
def tick() -> None:
    """Do what is due."""
    ticking.tick(_rest)
