"""Do with an alert, or with many, what a form says."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from benchweb.common.rows import row_id, row_ids
from benchweb.regressions import merging, transitions
from benchweb.regressions.handling import snoozes
from benchweb.regressions.handling.reopening import reopen
from benchweb.regressions.measuring import measure_again_anyway
from benchweb.regressions.models import Alert
from benchweb.regressions.transitions import AlertError
from benchweb.web.alerts.alert_form import SNOOZES, UNTIL_WORSE

# Of one form: a page has some 25 rows, a grouped list 500.
MOST_ALERTS = 500
MOST_URL_CHARACTERS = 500
_MOVES: dict[str, Callable[..., None]] = {
    "acknowledge": transitions.acknowledge,
    "expected": transitions.expect,
    "invalid": transitions.invalidate,
    "fixed": transitions.fix,
    "reopen": reopen,
}
_DONE = {
    "acknowledge": ngettext_lazy("{count:,} alert acknowledged.", "{count:,} alerts acknowledged."),
    "expected": ngettext_lazy("{count:,} alert marked as expected.", "{count:,} alerts marked as expected."),
    "invalid": ngettext_lazy("{count:,} alert marked as noise.", "{count:,} alerts marked as noise."),
    "fixed": ngettext_lazy("{count:,} alert marked as fixed.", "{count:,} alerts marked as fixed."),
    "reopen": ngettext_lazy("{count:,} alert reopened.", "{count:,} alerts reopened."),
    "snooze": ngettext_lazy("{count:,} alert snoozed.", "{count:,} alerts snoozed."),
    "assign": ngettext_lazy("{count:,} alert assigned.", "{count:,} alerts assigned."),
    "wake": ngettext_lazy("{count:,} snooze ended.", "{count:,} snoozes ended."),
    "merge": ngettext_lazy("{count:,} alert merged.", "{count:,} alerts merged."),
    "comment": ngettext_lazy("Comment added to {count:,} alert.", "Comment added to {count:,} alerts."),
}


def do(alert_id: int, form: QueryDict, user: User) -> None:
    """Do with an alert what a form says; raise AlertError where that can't be."""
    action, comment = form.get("action", ""), form.get("comment", "")
    if action in _MOVES:
        _MOVES[action](alert_id=alert_id, by=user, comment=comment)
    elif action in _OTHERS:
        _OTHERS[action](alert_id, form, user, comment)
    else:
        raise AlertError("action", _no_action(action))


def do_many(form: QueryDict, user: User) -> tuple[str, list[str]]:
    """Do it with each alert that is ticked, one by one; return what was done, and why the others were not."""
    ids = set(row_ids(form.getlist("alert")))
    worst_first = Alert.objects.filter(pk__in=sorted(ids)[:MOST_ALERTS]).order_by("-rank", "-pk")
    known = list(worst_first.values_list("pk", flat=True))
    if form.get("action") not in _DONE:
        return "", [_no_action(form.get("action", ""))]
    if not known:
        return "", [_("No alert is selected: tick one, or press j and x.")]
    if form.get("action") == "merge":
        form = form.copy()
        form["into"] = str(known.pop(0))
        if not known:
            return "", [_("Select two or more: they are merged into the worst of them.")]
    refusals = [refusal for alert_id in known if (refusal := _refusal(alert_id, form, user))]
    return _outcome(form.get("action", ""), len(known) - len(refusals)), _each_once(refusals)


def _no_action(action: str) -> str:
    return _("{action} is no action: press one of the buttons.").format(action=action[:40])


def _snooze(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    length = form.get("snooze") or SNOOZES[0]
    if length not in SNOOZES:
        raise AlertError("snooze", _("Choose how long from the list."))
    until = None if length == UNTIL_WORSE else timezone.now() + timedelta(hours=int(length))
    if text := form.get("until"):
        until = _moment(text)
    is_until_worse = length == UNTIL_WORSE
    snoozes.snooze(alert_id=alert_id, until=until, until_worse=is_until_worse, by=user, comment=comment)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise AlertError("until", _("The time can't be read: choose a date and a time, in UTC.")) from None


def _assign(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    name = form.get("assignee", user.get_username())
    # No name has control characters, and PostgreSQL takes no NUL.
    assignee = User.objects.filter(username=name, is_active=True).first() if name.isprintable() else None
    if name and assignee is None:
        raise AlertError("assignee", _("There is no user {name}.").format(name=name[:150]))
    transitions.assign(alert_id=alert_id, assignee=assignee, by=user, comment=comment)


def _remark(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    transitions.remark(alert_id=alert_id, comment=comment, by=user)


def _ticket(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    url = form.get("ticket_url", "").strip()
    if len(url) > MOST_URL_CHARACTERS:
        message = _("A ticket's address has at most {most:,} characters.").format(most=MOST_URL_CHARACTERS)
        raise AlertError("ticket_url", message)
    transitions.remark(alert_id=alert_id, comment=comment, by=user, ticket_url=url)


def _measure(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    measure_again_anyway(alert_id=alert_id, by=user, comment=comment)


def _wake(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    snoozes.wake(alert_id=alert_id, by=user, comment=comment)


def _merge(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    into = row_id(form.get("into", ""))
    if into is None:
        raise AlertError("into", _("Choose the alert to merge it into."))
    merging.merge(alert_id=alert_id, into=into, by=user, comment=comment)


def _split(alert_id: int, form: QueryDict, user: User, comment: str) -> None:
    series = set(row_ids(form.getlist("series")))
    merging.split(alert_id=alert_id, series=series, by=user, comment=comment)


_OTHERS: dict[str, Callable[[int, QueryDict, User, str], None]] = {
    "snooze": _snooze,
    "measure": _measure,
    "wake": _wake,
    "assign": _assign,
    "comment": _remark,
    "ticket": _ticket,
    "merge": _merge,
    "split": _split,
}


def _refusal(alert_id: int, form: QueryDict, user: User) -> str:
    try:
        do(alert_id, form, user)
    except AlertError as error:
        return error.message
    return ""


def _outcome(action: str, count: int) -> str:
    return str(_DONE[action] % count).format(count=count) if count else ""


def _each_once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
