"""Describe a kind of channel: the settings that it takes, their check, and the sending."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from benchweb.notifications import egress
from benchweb.notifications.answers import ReceiverAnswer
from benchweb.notifications.messages import Message

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MOST_ADDRESS_CHARACTERS = 2_000
SettingName = Literal["to", "url", "secret"]
SETTING_NAMES: tuple[SettingName, ...] = get_args(SettingName)


@dataclass(frozen=True)
class ChannelSettings:
    """All that a channel may be given; each kind takes some of it."""

    kind: str
    to: Sequence[str] = ()
    url: str = ""
    # Empty keeps the one that is stored.
    secret: str = ""


@dataclass(frozen=True)
class ChannelField:
    """A setting that a kind takes, as its form asks for it: `to` in lines, `url` in one, a `secret` unseen."""

    name: SettingName
    label: StrOrPromise
    help_text: StrOrPromise = ""
    placeholder: str = ""
    # What a secret of the reader's own making begins with, before 32 random bytes in base64; empty where another
    # service makes it.
    generated_prefix: str = ""


@dataclass(frozen=True)
class Receiver:
    """Whoever a message goes to: what is stored of a channel, its secret in clear; of mail those that are `left`."""

    config: Mapping[str, Any]
    secret: str = ""
    left: Sequence[str] = ()


class Unsendable(Exception):
    """The reason that a message can't be sent, before anybody was asked to take it."""


@dataclass(frozen=True)
class ChannelKind:
    """A way to reach people: all that pages, the API and the outbox know of it."""

    # As it is stored, and as the API and addresses of pages spell it.
    key: str
    label: StrOrPromise
    fields: Sequence[ChannelField]
    # Return what is stored beside the secret, and {} where that stays as it is; raise NotificationError.
    check: Callable[[ChannelSettings, bool], dict[str, Any]]
    # Read all that it takes from the database, and return what sends in a thread without one; raise Unsendable.
    sender: Callable[[Message, Receiver], Callable[[], ReceiverAnswer]]
    # Whether it may connect to an IP address.
    admits: Callable[[str], bool] = egress.admits

    @property
    def setting_names(self) -> frozenset[str]:
        return frozenset(each.name for each in self.fields)
