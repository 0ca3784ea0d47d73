"""The timeline of last night and the coming one, and the calendar of a week."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.rows import row_id
from benchweb.runs.models import Campaign
from benchweb.runs.summaries import campaign_summaries
from benchweb.web.shared.zones import reader_zone
from benchweb.web.timeline import page as rows
from benchweb.web.timeline.lanes import Lane, TimelineLanes, lanes_of

SPANS_HOURS = (6, 24, 48, 168)
_HOUR = timedelta(hours=1)
LEGEND = ("finished", "failed", "nonstart", "missed", "cancelled", "running", "planned")
# Either side of what a campaign took, so that its first and last bars aren't at the edge.
_MARGIN = 0.03


@dataclass(frozen=True)
class TimelineSpan:
    """The time that is shown: from a moment, for so many hours, in the reader's zone."""

    begin: datetime
    end: datetime
    zone: tzinfo

    @property
    def hours(self) -> int:
        return max(1, round((self.end - self.begin).total_seconds() / 3600))

    @property
    def earlier(self) -> str:
        return self._local(self.begin - (self.end - self.begin) / 2)

    @property
    def later(self) -> str:
        return self._local(self.begin + (self.end - self.begin) / 2)

    @property
    def start(self) -> str:
        return self._local(self.begin)

    def _local(self, moment: datetime) -> str:
        return moment.astimezone(self.zone).strftime("%Y-%m-%dT%H:%M")


@needs(Permission.READ)
@require_GET
def timeline_page(request: HttpRequest) -> HttpResponse:
    """Show lanes by host and by schedule; `?from=` and `?hours=` choose the span, `?campaign=` one campaign."""
    campaign = _campaign(request)
    span = _span(request, campaign)
    now = timezone.now()
    runs = rows.runs_between(span.begin, span.end, campaign=campaign.pk if campaign else None)
    schedules = [] if campaign else rows.active_schedules()
    planned = rows.coming(schedules, max(now, span.begin), span.end) if schedules else []
    slots = [] if campaign else rows.slots_between(span.begin, span.end)
    text = request.GET.get("q", "").strip()

    def drawn(title: str, lanes: list[Lane]) -> TimelineLanes:
        return lanes_of(title, lanes, begin=span.begin, end=span.end, zone=span.zone, now=now)

    is_past = now >= span.end
    waiting = 0 if is_past else rows.waiting_runs(campaign=campaign.pk if campaign else None)
    context = {
        "span": span,
        "spans": SPANS_HOURS,
        "legend": LEGEND,
        "text": text,
        "campaign": campaign,
        "hosts": drawn(_("Hosts"), rows.host_lanes(runs, planned, now, text)),
        "schedules": drawn(_("Schedules"), rows.schedule_lanes(schedules, slots, planned)),
        "is_shortened": len(runs) == rows.MOST_RUNS,
        "most": rows.MOST_RUNS,
        "waiting": waiting,
        # Beyond what is shown, or at a time that isn't known.
        "may_come": bool(is_past or waiting or schedules),
    }
    return render(request, "timeline/timeline.html", context)


@needs(Permission.READ)
@require_GET
def week_page(request: HttpRequest) -> HttpResponse:
    """Show a week of slots, Monday to Sunday in the reader's zone; `?from=` is a day in it."""
    zone = reader_zone(request)
    now = timezone.now()
    today = now.astimezone(zone).date()
    requested = _day(request.GET.get("from", "")) or today
    first = requested - timedelta(days=requested.weekday())
    begin, end = (
        datetime.combine(day, time(), tzinfo=zone).astimezone(UTC) for day in (first, first + timedelta(days=7))
    )
    schedules = rows.active_schedules()
    slots = rows.slots_between(begin, end)
    planned = rows.coming(schedules, max(now, begin), end) if end > now else []
    context = {
        "days": rows.week_days(first, today, slots, planned, zone),
        "first": first,
        "last": first + timedelta(days=6),
        "zone": zone,
        "earlier": first - timedelta(days=7),
        "later": first + timedelta(days=7),
        "has_schedules": bool(schedules or slots),
    }
    return render(request, "schedules/week.html", context)


def _campaign(request: HttpRequest) -> Campaign | None:
    requested = row_id(request.GET.get("campaign", ""))
    return get_object_or_404(Campaign, pk=requested) if requested is not None else None


def _span(request: HttpRequest, campaign: Campaign | None) -> TimelineSpan:
    zone = reader_zone(request)
    now = timezone.now()
    requested = _moment(request.GET.get("from", ""), zone)
    if campaign is not None and requested is None:
        return _span_of_campaign(campaign, zone, now)
    hours = row_id(request.GET.get("hours", ""))
    length = timedelta(hours=hours if hours in SPANS_HOURS else 48)
    # Last night and the coming one: as much before now as after it, to the next full hour, for what is due then.
    begin = requested or (now - length / 2 + _HOUR).replace(minute=0, second=0, microsecond=0)
    return TimelineSpan(begin, begin + length, zone)


def _span_of_campaign(campaign: Campaign, zone: tzinfo, now: datetime) -> TimelineSpan:
    summary = campaign_summaries([campaign.pk])[campaign.pk]
    begin = summary.started_at or campaign.created_at
    end = max(summary.finished_at or now, begin + timedelta(seconds=1))
    margin = (end - begin) * _MARGIN
    return TimelineSpan(begin - margin, end + margin, zone)


def _moment(text: str, zone: tzinfo) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        local = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        # Far from the edges of what dates can be, so that sums of them can't overflow.
        return local.astimezone(UTC) if 1970 <= moment.year <= 2200 else None
    except ValueError:
        return None


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1970 <= day.year <= 2200 else None
