"""Everything else, by Apprise in this process: messengers, on-call services, and push services.

Only services by HTTP are taken: none that works on this machine, and none that opens sockets of its own. Messages
carry no attachments. Where the connections go is checked by benchweb.notifications.egress.
"""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import unquote, urlsplit

import apprise
from apprise import AppriseAsset, NotifyBase, NotifyFormat, NotifyType, PersistentStoreMode

from benchweb.catalog.reasons import Reason
from benchweb.notifications import egress
from benchweb.notifications.answers import MOST_READ_BYTES, ReceiverAnswer, stored_text
from benchweb.notifications.messages import Message

_TAKEN = (
    "bark,barks,betterstack,bluesky,chanify,cliq,dingtalk,discord,feishu,firehydrant,flock,gchat,goalert,"
    "goalerts,gotify,gotifys,groupme,guilded,ilert,incidentio,jira,lark,line,mastodon,mastodons,matrix,matrixs,"
    "misskey,misskeys,mmost,mmosts,ncloud,nclouds,nctalk,nctalks,ntfy,ntfys,onesignal,opsgenie,pagerduty,"
    "pagertree,pbul,pover,prowl,pushdeer,pushdeers,pushplus,pushy,qq,revolt,ringc,rocket,rockets,ryver,schan,"
    "signal,signals,signl4,slack,splunk,spike,squadcast,stackfield,synology,synologys,tgram,threema,twilio,"
    "twist,victorops,viber,webex,wecom,wecombot,whatsapp,workflow,workflows,wxpusher,wxteams,xmatters,youlmk,"
    "zalo,zoom,zulip"
)
SCHEMAS = frozenset(_TAKEN.split(","))
_KINDS = {"info": NotifyType.INFO, "warning": NotifyType.WARNING, "critical": NotifyType.FAILURE}
# Shorter parts of an address are words, and no secrets.
_SHORTEST_SECRET = 6
_STATUS = re.compile(r"error=(\d{3})\b")
# @channel, Slack's <!channel>, and [text](address).
_CALLS = re.compile(r"@(?=\w)|<(?=[!@#])|\](?=\()")
_DETAILS = re.compile(r"^Response Details:\s*")


class AddressRefused(ValueError):
    """An Apprise address that can't be a channel; the message says why."""


def schema_of(url: str) -> str:
    """Return which service an address names; raise AddressRefused for one that isn't taken or can't be read."""
    schema = url.partition("://")[0].strip().lower()
    if schema not in SCHEMAS:
        raise AddressRefused(
            f"{schema[:20]}:// is not among the services that messages are sent to; there are: "
            f"{', '.join(sorted(SCHEMAS))}."
        )
    if _service(url) is None:
        raise AddressRefused(f"Apprise can't read this {schema}:// address: see appriseit.com for its form.")
    return schema


def send(message: Message, url: str) -> ReceiverAnswer:
    """Send by the service that the address names; what it answered is taken from Apprise's own log."""
    schema_of(url)
    service = _service(url)
    if service is None:
        return ReceiverAnswer(error=Reason("messenger_unreadable"))
    # A proxy connects wherever it is told to, past the check of addresses. Nothing else here heeds these variables.
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"
    sender = apprise.Apprise(asset=service.asset)
    sender.add(service)
    with _logged_lines() as lines:
        taken = sender.notify(
            body=_without_calls(message.text or message.title),
            title=_without_calls(message.title),
            notify_type=_KINDS[message.severity],
            body_format=NotifyFormat.TEXT,
            interpret_escapes=False,
        )
    if not taken:
        egress.require_no_refusal()
    return _answer(bool(taken), [_without_secrets(line, url) for line in lines])


def _without_calls(text: str) -> str:
    """Keep names and comments from calling people or hiding links, where a service reads marks in its texts."""
    return _CALLS.sub("\\g<0>\u200b", text)


def _service(url: str) -> NotifyBase | None:
    asset = AppriseAsset(
        async_mode=False,
        storage_mode=PersistentStoreMode.MEMORY,
        http_redirects=False,
        allow_templates=False,
        plugin_paths=[],
    )
    service = apprise.Apprise.instantiate(url, asset=asset)
    if not isinstance(service, NotifyBase):
        return None
    # Whatever the address says: the outbox tries again, and nothing is followed.
    service.redirects, service.retry, service.verify_certificate = False, 0, True
    return service


def _answer(taken: bool, lines: list[str]) -> ReceiverAnswer:
    warnings = [line for line in lines if not _DETAILS.match(line)]
    details = [_DETAILS.sub("", line) for line in lines if _DETAILS.match(line)]
    text = stored_text("\n".join(details)[:MOST_READ_BYTES])
    if taken:
        return ReceiverAnswer(None, text or "the service took it")
    reason = warnings[-1] if warnings else Reason("messenger_refused")
    status = _STATUS.search(reason)
    return ReceiverAnswer(int(status[1]) if status else None, text, stored_text(reason) if warnings else reason)


def _without_secrets(text: str, url: str) -> str:
    """Blot out every part of an address that may be a token."""
    host = urlsplit(url).hostname or ""
    parts = {word for part in re.split(r"[/:@?&=,#]+", url) for word in (part, unquote(part))}
    for part in sorted(parts, key=len, reverse=True):
        if len(part) >= _SHORTEST_SECRET and part.lower() not in (host, *SCHEMAS):
            text = text.replace(part, "…")
    return text


class _Lines(logging.Handler):
    """Keeps what Apprise logs for whoever is sending, and shows it nobody else: it names tokens."""

    def emit(self, record: logging.LogRecord) -> None:
        lines = _current.get()
        if lines is None:
            return
        text = record.getMessage()
        if record.levelno >= logging.WARNING or _DETAILS.match(text):
            lines.append(text[:MOST_READ_BYTES])


_current: ContextVar[list[str] | None] = ContextVar("apprise_lines", default=None)
_apprise_log = logging.getLogger("apprise")
_apprise_log.setLevel(logging.DEBUG)
_apprise_log.propagate = False
_apprise_log.addHandler(_Lines())


@contextmanager
def _logged_lines() -> Iterator[list[str]]:
    lines: list[str] = []
    token = _current.set(lines)
    try:
        yield lines
    finally:
        _current.reset(token)
