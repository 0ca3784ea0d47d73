"""Two people press at once, with transactions of their own."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection

from benchweb.regressions.measuring import measure_again_anyway
from benchweb.regressions.transitions import AlertError
from benchweb.runs.models import Campaign
from tests.regressions.test_rerun_budget import admin, apart, lacking_alert


@pytest.mark.django_db(transaction=True)
def test_two_people_at_once_launch_one_rerun(django_user_model: type[User]) -> None:
    alert = lacking_alert(apart(3))
    people = [admin(django_user_model, name) for name in ("ada", "bert")]
    begin, refusals = threading.Barrier(2), []

    def press(user: User) -> None:
        begin.wait()
        try:
            measure_again_anyway(alert_id=alert.pk, by=user)
        except AlertError as error:
            refusals.append(error.message)
        connection.close()

    threads = [threading.Thread(target=press, args=[user]) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refusals) == 1
    assert Campaign.objects.filter(created_by__in=people).count() == 1
