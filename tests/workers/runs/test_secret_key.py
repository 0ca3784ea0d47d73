"""The secret key is replaced while a run goes on, as docs/how-to/maintain.md says: nothing of the run is lost."""

import subprocess
from collections.abc import Callable

import pytest
from django.conf import settings as of_before
from django.core.management import call_command
from pytest_django import Settings

from benchweb.hosts.models import Endpoint
from benchweb.runs.models import State
from benchweb.site.secrets import is_of_present_key
from tests.processes import Engine, stopped
from tests.workers.runs.real_runs import ended, long_run, pair_of, running_trial

pytestmark = pytest.mark.django_db(transaction=True)
PRESENT = "p" * 64
# Another worker takes its time to start.
TRIALS = 12


def test_a_key_replaced_in_the_middle_of_a_run_loses_no_trial(
    worker: Callable[[], "subprocess.Popen[bytes]"],
    environment_of_test: dict[str, str],
    engine_pair: tuple[Engine, Engine],
    settings: Settings,
) -> None:
    former = of_before.SECRET_KEY
    first = worker()
    run = long_run(pair_of(*engine_pair), repetitions=TRIALS)
    running_trial(run, 1)
    # Step 2: the workers are restarted with both keys.
    environment_of_test |= {"BENCHWEB_SECRET_KEY": PRESENT, "BENCHWEB_SECRET_KEY_FALLBACKS": former}
    worker()
    stopped(first)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [former]
    call_command("rotate_secrets")
    assert all(is_of_present_key(endpoint.token_encrypted) for endpoint in Endpoint.objects.all())
    assert run.trials.exclude(state=State.FINISHED).exists(), "the run was over before the key was replaced"
    assert (ended(run).state, run.reason) == (State.FINISHED, "")
    assert list(run.trials.values_list("state", flat=True)) == [State.FINISHED] * TRIALS
