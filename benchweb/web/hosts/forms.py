"""Forms of hosts, endpoints and environments; the services check what the values mean."""

import re
import secrets
from collections.abc import Sequence
from typing import Any, Self, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchweb.hosts.machines import has_known_engine
from benchweb.hosts.models import Endpoint, Environment, Host
from benchweb.web.shared.forms import PageForm, description_field, labels_field, text_field

_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)(?:bit/s|bits/s|bps|b/s|bit|b)?")
_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


class LinkSpeedField(forms.CharField):
    """A speed in bit/s, or None where it is empty."""

    def prepare_value(self, value: Any) -> Any:
        return link_speed_text(value) if isinstance(value, float | int) else value

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip()
        if not text:
            return None
        written = _WRITTEN.fullmatch(text)
        if written is None:
            raise ValidationError(_("Enter a speed such as 10G, 2.5 Gbit/s or 100M."))
        number, prefix = written.groups()
        return float(number) * _FACTORS["k" if prefix == "K" else prefix]


def link_speed_text(bps: float) -> str:
    """Write a speed as the field takes it: 10 Gbit/s."""
    prefix, factor = next(
        ((prefix, factor) for prefix, factor in reversed(_FACTORS.items()) if bps >= factor), ("", 1.0)
    )
    return f"{bps / factor:g} {prefix}bit/s"


_HELP_LABELS = _("Labels by which schedules select hosts, separated by commas.")
# Named so that no linter takes them for secrets.
_HELP_NEW = _("The secret shared by this dashboard and the engine. Keep the generated one, or enter the engine's.")
_HELP_STORED = _("Leave empty to keep the stored token. Another address or fingerprint needs it again.")
_HELP_FINGERPRINT = _(
    "sha256:… as the engine prints it. If empty, it is pinned once the engine has proved that it knows the token."
)
_HELP_PINNED = _(
    "sha256:… as the engine prints it. If empty, it is pinned once the engine has proved that it knows the token, "
    "which you enter again."
)


class NamedForm(PageForm):
    """A name and a description."""

    name = text_field(_("Name"), required=True, max_length=100, autofocus="autofocus")
    description = description_field()

    @classmethod
    def of(cls, row: Environment) -> Self:
        """Return the form filled with a row's values."""
        return cls(initial={"name": row.name, "description": row.description})


def uplink_field() -> forms.CharField:
    """Return the field for the uplink that a host shares."""
    return text_field(
        _("Shared uplink"),
        help_text=_(
            "Hosts with the same value share an uplink or a site: only one exclusive run at a time may use it."
        ),
        list="uplinks",
        placeholder="site-a",
    )


def environments_field() -> forms.TypedMultipleChoiceField:
    """Return the field for the environments that a host is in, read as their ids."""
    return forms.TypedMultipleChoiceField(
        label=_("Environments"),
        help_text=_("Editors in one of these may make pairs of this host. None ticked: only editors everywhere."),
        choices=_environments,
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )


def _environments(*, and_archived: Sequence[int] = ()) -> list[tuple[int, str]]:
    usable = Environment.objects.filter(Q(archived_at=None) | Q(pk__in=and_archived))
    return [(environment.pk, environment.name) for environment in usable]


class HostDetailsForm(PageForm):
    """A host by itself, without its endpoints."""

    name = text_field(_("Name"), required=True, max_length=100, autofocus="autofocus")
    description = description_field()
    labels = labels_field(_HELP_LABELS)
    uplink = uplink_field()
    environments = environments_field()
    has_canary = forms.BooleanField(
        label=_("Measure the host itself once a night"),
        help_text=_(
            "Before a scheduled run, for about a second: memory, CPU and loopback. It tells the host's own changes "
            "from those of the network."
        ),
        required=False,
    )

    @classmethod
    def of(cls, host: Host, sent: QueryDict | None = None) -> Self:
        """Return the form filled with a host's values, or with what was sent."""
        names = {name: name for name in cls.base_fields} | {"environments": "environment_ids"}
        form = cls(sent, initial={name: getattr(host, field) for name, field in names.items()})
        # An archived one is there to be left.
        choices = cast(forms.TypedMultipleChoiceField, form.fields["environments"])
        choices.choices = _environments(and_archived=host.environment_ids)
        return form


class EndpointForm(PageForm):
    """One way to reach a host."""

    control_address = text_field(
        _("Engine's address"),
        required=True,
        help_text=_("HOST:PORT of the engine's control API as this dashboard reaches it; the port defaults to 7410."),
        placeholder="192.0.2.10:7410",
    )
    token = text_field(_("Engine's token"), help_text=_HELP_NEW, spellcheck="false")
    data_address = text_field(
        _("Address for test traffic"),
        help_text=_("Where other hosts send test traffic. If empty, the engine's address without its port is used."),
        placeholder="10.0.0.10",
    )
    network_mode = text_field(
        _("Network mode"),
        required=True,
        max_length=40,
        help_text=_("How traffic leaves the host, such as host, terway or terway-eni."),
        list="network-modes",
    )
    bind_device = text_field(
        _("Network device"),
        max_length=15,
        help_text=_("Bind test traffic to this device. If empty, the host's routes decide."),
        placeholder="eth0",
    )
    link_bps = LinkSpeedField(
        label=_("Speed of the link"),
        required=False,
        help_text=_("Such as 10G. Used only if the host's kernel reports no speed."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "10G"}),
    )
    endpoint_name = text_field(
        _("Endpoint's name"), max_length=100, help_text=_("If empty, the network mode is used as the name.")
    )
    fingerprint = text_field(
        _("Certificate's fingerprint"),
        help_text=_HELP_FINGERPRINT,
        spellcheck="false",
    )

    # Shown where it was insisted on, or may be.
    same_machine = forms.BooleanField(
        label=_("Both hosts are one machine"),
        required=False,
        help_text=_("Exclusive tests of hosts that are one machine run one after another."),
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )
    asks_same_machine = False

    @classmethod
    def new(cls, sent: QueryDict | None = None) -> Self:
        """Return the form for a new engine; an empty one has a token made for it, and asks for one."""
        if sent is not None:
            return cls(sent)
        form = cls(initial={"network_mode": "host", "token": new_token()})
        form.fields["token"].required = True
        return form

    @classmethod
    def of(cls, endpoint: Endpoint) -> Self:
        """Return the form filled with an endpoint's values; its token is never shown again."""
        names = (
            "control_address",
            "data_address",
            "network_mode",
            "bind_device",
            "link_bps",
            "fingerprint",
            "same_machine",
        )
        form = cls(initial={name: getattr(endpoint, name) for name in names} | {"endpoint_name": endpoint.name})
        form.fields["token"].help_text = _HELP_STORED
        form.fields["fingerprint"].help_text = _HELP_PINNED
        form.asks_same_machine = has_known_engine(endpoint)
        return form

    def endpoint_values(self) -> dict[str, Any]:
        """Return the values as the services take them."""
        values = {name: self.cleaned_data[name] for name in EndpointForm.base_fields}
        return {"name": values.pop("endpoint_name")} | values

    @property
    def shows_same_machine(self) -> bool:
        return self.asks_same_machine or bool(self["same_machine"].value())

    def refuse(self, field: str, message: str, url: str = "") -> None:
        """Show a refusal of the endpoint's name at the field that holds it here; another's certificate may be meant."""
        self.asks_same_machine = self.asks_same_machine or (field in ("fingerprint", "control_address") and bool(url))
        super().refuse("endpoint_name" if field == "name" and "name" not in self.fields else field, message, url)


class HostForm(EndpointForm):
    """A host with its first endpoint, in one form."""

    name = text_field(
        _("Host's name"),
        required=True,
        max_length=100,
        help_text=_("Your name for the machine, such as its host name."),
        autofocus="autofocus",
    )
    description = description_field()
    labels = labels_field(_HELP_LABELS)
    uplink = uplink_field()
    environments = environments_field()

    field_order = ["name", "control_address", "token", "data_address", "network_mode", "description", "labels"]

    def host_values(self) -> dict[str, Any]:
        """Return the host's own values as the service takes them."""
        return {name: self.cleaned_data[name] for name in HostDetailsForm.base_fields if name in self.fields}


def new_token() -> str:
    """Make a token for an engine: 256 random bits."""
    return secrets.token_urlsafe(32)
