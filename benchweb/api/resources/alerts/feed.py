"""Alerts as an Atom feed (RFC 4287), for readers and chat rooms that follow one."""

from django.db.models import Max, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.models import Alert, AlertTransition

# Readers come every few minutes; what is older is on the page of alerts.
MOST_ENTRIES = 100
MEDIA_TYPE = "application/atom+xml; charset=utf-8"


def atom(request: HttpRequest, alerts: "QuerySet[Alert, Alert]") -> str:
    """Return the newest of these alerts that people were told of as a feed; what happens to one dates it anew.

    Two queries. The alerts come with all that names them.
    """
    entries = list(alerts.exclude(opened_at=None).order_by("-pk")[:MOST_ENTRIES])
    ids = [alert.pk for alert in entries]
    moved = AlertTransition.objects.filter(alert__in=ids).values("alert").annotate(at=Max("at")).order_by()
    updated = {row["alert"]: row["at"] for row in moved}
    page = request.build_absolute_uri(reverse("web:alerts"))
    feed = Atom1Feed("benchweb: alerts", page, "", feed_url=request.build_absolute_uri(), feed_guid=page)
    for alert in entries:
        address = request.build_absolute_uri(reverse("web:alert", args=[alert.pk]))
        feed.add_item(
            f"{alert.get_state_display()}: {alert_title(alert)}",
            address,
            "",
            unique_id=address,
            pubdate=alert.opened_at,
            updateddate=updated.get(alert.pk, alert.opened_at),
            categories=[alert.state, alert.severity, alert.kind],
        )
    return feed.writeString("utf-8")
