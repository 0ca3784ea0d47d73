"""Forms of channels, rules and maintenance windows."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Self

from django import forms
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from benchweb.hosts.models import Environment, Host
from benchweb.notifications.kinds.kind import MOST_ADDRESS_CHARACTERS, ChannelField, ChannelKind, ChannelSettings
from benchweb.notifications.models import Channel, MaintenanceWindow, Rule
from benchweb.notifications.services import RuleValues, WindowValues
from benchweb.plans.selectors import plans_matching
from benchweb.regressions.models import Alert
from benchweb.web.shared.forms import PageForm, text_field

_LOCAL = "%Y-%m-%dT%H:%M"


class FirstRule(TextChoices):
    """The rule that a new channel gets with it."""

    CRITICAL = "critical", _("everything critical")
    ALL = "info", _("all alerts")
    NONE = "none", _("none yet: I add a rule myself")


class ChannelForm(PageForm):
    """What channels of every kind have."""

    name = text_field(_("Name"), required=True, max_length=100)

    def __init__(self, *arguments: Any, is_stored: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if is_stored and "secret" in self.fields:
            self.fields["secret"].required = False
            self.fields["secret"].help_text = _("Leave it empty to keep the one that is stored.")

    @classmethod
    def of(cls, channel: Channel) -> Self:
        """Return the form with a channel's values, but its secret."""
        to = "\n".join(channel.config.get("to", []))
        initial = {"name": channel.name, "to": to, "url": channel.config.get("url", "")}
        return cls(initial=initial, is_stored=True)

    def settings(self, kind: str) -> ChannelSettings:
        """Return what the form says, for the service."""
        data = self.cleaned_data
        to = [word for word in re.split(r"[\s,;]+", data.get("to", "")) if word]
        return ChannelSettings(kind=kind, to=to, url=data.get("url", ""), secret=data.get("secret", ""))


def channel_form(kind: ChannelKind) -> type[ChannelForm]:
    """Return the form of a kind of channel: a name, and the settings that the kind takes."""
    return type("ChannelKindForm", (ChannelForm,), {field.name: _setting_field(field) for field in kind.fields})


def new_channel_form(kind: ChannelKind) -> type[ChannelForm]:
    """Return the form of a new channel of a kind, which asks for its first rule too."""
    return type("NewChannelForm", (channel_form(kind),), {"rule": _FirstRuleField()})


class _FirstRuleField(forms.ChoiceField):
    """A rule to begin with; a form that says nothing of it has none."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Alerts that go there"),
            choices=FirstRule.choices,
            initial=FirstRule.CRITICAL,
            widget=forms.RadioSelect,
            help_text=_("It becomes a rule, which you may change at any time."),
        )

    def clean(self, value: Any) -> str:
        return str(super().clean(value or FirstRule.NONE))


def _setting_field(field: ChannelField) -> forms.CharField:
    if field.name == "url":
        return text_field(
            field.label,
            help_text=field.help_text,
            required=True,
            max_length=MOST_ADDRESS_CHARACTERS,
            placeholder=field.placeholder,
        )
    is_secret = field.name == "secret"
    return forms.CharField(
        label=field.label,
        help_text=field.help_text,
        max_length=MOST_ADDRESS_CHARACTERS if is_secret else 20_000,
        widget=_secret_input(field) if is_secret else forms.Textarea(attrs={"rows": 3}),
    )


def _secret_input(field: ChannelField) -> forms.PasswordInput:
    generates = {"data-generates": field.generated_prefix} if field.generated_prefix else {}
    return forms.PasswordInput(attrs={"autocomplete": "off"} | generates)


class TimeOfDayField(forms.TimeField):
    """An hour and a minute."""

    def __init__(self, label: Any, help_text: Any = "") -> None:
        widget = forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "form-control"})
        super().__init__(label=label, help_text=help_text, required=False, widget=widget)


# As events name them: what became of an alert.
TRANSITIONS = [
    (Alert.State.OPEN.value, _("opened")),
    ("worse", _("got worse while snoozed")),
    ("joined", _("another measure joined")),
    (Alert.State.RECOVERED.value, _("recovered")),
    (Alert.State.ACKNOWLEDGED.value, _("acknowledged")),
    (Alert.State.EXPECTED.value, _("accepted as normal")),
    (Alert.State.INVALID.value, _("ignored as noise")),
    (Alert.State.FIXED.value, _("fixed")),
]
_HELP_LABEL = _("Of one of its hosts, its pair or its plan.")


class WordsField(forms.MultipleChoiceField):
    """Words to tick; those of another room or version, which a rule may have, are offered beside the known ones."""

    def __init__(self, label: Any, known: Sequence[tuple[str, Any]]) -> None:
        widget = forms.CheckboxSelectMultiple(attrs={"class": "ticks"})
        super().__init__(
            label=label, choices=known, required=False, widget=widget, help_text=_("Leave all unticked for all.")
        )
        self._known = known

    def prepare_value(self, value: Any) -> Any:
        self._offer(value or ())
        return value

    def valid_value(self, value: str) -> bool:
        """Leave it to the service: other rooms may add words."""
        return True

    def _offer(self, words: Iterable[str]) -> None:
        known = {value for value, _label in self._known}
        self.choices = [*self._known, *((word, word) for word in words if word not in known)]


class RuleForm(PageForm):
    """Which alerts go to which channel, and when."""

    name = text_field(_("Name"), required=True, max_length=100)
    channel = forms.ModelChoiceField(label=_("Channel"), queryset=Channel.objects.filter(archived_at=None))
    environment = forms.ModelChoiceField(
        label=_("Environment"), queryset=Environment.objects.filter(archived_at=None), required=False
    )
    plan = forms.ModelChoiceField(label=_("Plan"), queryset=plans_matching(), required=False)
    host_label = text_field(_("Label"), help_text=_HELP_LABEL, max_length=60)
    least_severity = forms.ChoiceField(label=_("Minimum severity"), choices=Alert.Severity.choices)
    alert_kinds = WordsField(_("Kinds of alerts"), Alert.Kind.choices)
    transitions = WordsField(_("Notify when"), TRANSITIONS)
    digest_at = TimeOfDayField(_("Digest at"), _("All alerts until then in one message. Empty: each at once."))
    quiet_from = TimeOfDayField(_("Quiet from"), _("Messages wait until quiet hours end."))
    quiet_until = TimeOfDayField(_("Quiet until"))
    time_zone = text_field(_("Time zone"), required=True, max_length=60, list="zones", spellcheck="false")

    @classmethod
    def of(cls, rule: Rule) -> Self:
        """Return the form with a rule's values."""
        return cls(initial={name: getattr(rule, name) for name in cls.base_fields})

    def values(self) -> RuleValues:
        """Return what the form says, for the service."""
        return RuleValues(**self.cleaned_data)


class WindowForm(PageForm):
    """A time, and one of host, label and environment."""

    name = text_field(_("Name"), required=True, max_length=100)
    host = forms.ModelChoiceField(label=_("Host"), queryset=Host.objects.filter(archived_at=None), required=False)
    host_label = text_field(_("Label"), help_text=_HELP_LABEL, max_length=60)
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.filter(archived_at=None),
        required=False,
        help_text=_("One of host, label and environment."),
    )
    begins_at = forms.DateTimeField(
        label=_("From (UTC)"), widget=forms.DateTimeInput(attrs={"type": "datetime-local", "class": "form-control"})
    )
    ends_at = forms.DateTimeField(
        label=_("Until (UTC)"), widget=forms.DateTimeInput(attrs={"type": "datetime-local", "class": "form-control"})
    )

    @classmethod
    def of(cls, window: MaintenanceWindow) -> Self:
        """Return the form with a window's values."""
        initial = {name: getattr(window, name) for name in cls.base_fields}
        return cls(initial=initial | {"begins_at": local_text(window.begins_at), "ends_at": local_text(window.ends_at)})

    def values(self) -> WindowValues:
        """Return what the form says, for the service."""
        return WindowValues(**self.cleaned_data)


def local_text(moment: datetime) -> str:
    """Write a time as the browser's field for one takes it."""
    return moment.astimezone(UTC).strftime(_LOCAL)
