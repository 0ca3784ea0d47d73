"""A schedule as a document."""

from datetime import tzinfo

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.documents.document import Badge, Document, DocumentSection, DocumentTable
from benchweb.documents.references import joined_label, plan_ref, reason_label, schedule_ref
from benchweb.regressions.models import Alert
from benchweb.runs.models import FAULTY_STATES
from benchweb.schedules.models import Schedule
from benchweb.state_words import state_word
from benchweb.web.schedules.rows import SlotRow, slot_rows
from benchweb.web.schedules.words import when_words

_MOST_SLOTS = 20


def schedule_document(schedule: Schedule, zone: tzinfo) -> Document:
    """Return the latest slots of a schedule; its badge is how many runs of the latest are complete. Four queries."""
    slots = slot_rows(list(schedule.slots.select_related("campaign").order_by("-at")[:_MOST_SLOTS]))
    rows = [
        [
            f"{row.slot.at.astimezone(zone):%Y-%m-%d %H:%M}",
            state_word(row.slot.state),
            _complete(row) if row.summary else "",
            reason_label(row.why),
        ]
        for row in slots
    ]
    table = DocumentTable("", [_("Slot"), _("State"), _("Runs"), _("Reason")], rows, [2])
    latest = next((row for row in slots if row.summary), None)
    live = Alert.objects.filter(schedule=schedule, state=Alert.State.OPEN).count()
    alerts_open = ngettext("%(count)s open alert", "%(count)s open alerts", live) % {"count": live} if live else ""
    complete = latest.summary.text if latest and latest.summary else ""
    name, value = schedule_ref(schedule.name), " · ".join(filter(None, [complete, alerts_open]))
    when = when_words(schedule.cron, schedule.every)
    is_bad = bool(live) or (latest is not None and latest.slot.state in FAULTY_STATES)
    return Document(
        title=joined_label([name, _("Schedule")]),
        lines=[joined_label([plan_ref(schedule.plan.name), when, schedule.timezone]), alerts_open],
        sections=[DocumentSection("slots", _("Slots"), tables=[table])],
        made_at=timezone.now(),
        is_synthetic=schedule.plan.is_synthetic,
        badge=Badge(name, value, is_bad) if value else None,
    )


def _complete(row: SlotRow) -> str:
    return (
        _("%(finished)s of %(total)s") % {"finished": row.summary.whole, "total": row.summary.runs}
        if row.summary
        else ""
    )
