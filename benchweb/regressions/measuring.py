"""Measure a suspect again because somebody wants it, whatever time its schedule has left for re-runs."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.regressions.judging.confirmation import PATIENCE, bad_run, control_pairs, launch_rerun
from benchweb.regressions.judging.locks import lock_environments
from benchweb.regressions.models import Alert
from benchweb.regressions.transitions import AlertError
from benchweb.runs.services import LaunchError

State = Alert.State


def is_measurable(alert: Alert) -> bool:
    """Tell whether an alert is a suspect of a change, which another measurement can confirm."""
    return alert.state == State.SUSPECT and alert.kind == Alert.Kind.CHANGE


@transaction.atomic
def measure_again_anyway(*, alert_id: int, by: User, comment: str = "") -> None:
    """Launch the re-run of a suspect for somebody, whatever its schedule's window; it takes nothing from its time.

    Raise Refused where the user may not run in the environment of a pair, AlertError where it is no suspect any more.
    """
    environments = Alert.objects.filter(pk=alert_id).values_list("environment", flat=True)
    lock_environments(environment for environment in environments if environment is not None)
    alert = Alert.objects.select_for_update(of=("self",)).select_related("schedule").get(pk=alert_id)
    if not is_measurable(alert):
        refusal = _("Alert {alert_id} is {state}: only a suspect of a change is measured again.")
        raise AlertError("", refusal.format(alert_id=alert_id, state=alert.get_state_display()))
    run = bad_run(alert)
    # Who may run in one environment is not refused for a control in another.
    controls = [pair for pair in control_pairs(run) if pair.environment_id == run.pair.environment_id]
    try:
        launch_rerun(alert, run, controls, start_before=timezone.now() + PATIENCE, by=by, comment=comment)
    except LaunchError as error:
        raise AlertError("", error.message) from error
