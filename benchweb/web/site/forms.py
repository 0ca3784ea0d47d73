"""The form of the installation's settings; an empty field is the built-in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.db import transaction
from django.forms.boundfield import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.models import Role
from benchweb.accounts.second_factors import Required
from benchweb.hosts.addresses import NetworksError, parsed_networks
from benchweb.ops.settings_checks import FEWEST_AUDIT_DAYS, MOST_SHARE_DAYS
from benchweb.site.addresses import has_own_path
from benchweb.site.values import chosen, is_locked, site_setting, site_settings_save, variable
from benchweb.web.shared.forms import PageForm, known_zone, text_field
from benchweb.web.site.mail_form import MAIL_FIELDS, UNSHOWN, MailForm, built_in

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_MOST_DAYS = 36_500
_GROUPS: list[tuple[StrOrPromise, list[str]]] = [
    (_("People"), ["default_role", "second_factor"]),
    (_("Times and language"), ["default_time_zone", "default_language"]),
    (_("Links without a log-in"), ["share_links", "share_live", "share_endless"]),
    (_("How long things are kept"), ["interval_days", "detail_days", "share_days", "audit_days", "delivery_days"]),
    (_("Addresses and networks"), ["public_url", "engine_networks", "notify_private_networks"]),
    (_("Mail"), MAIL_FIELDS),
]


def _days_field(label: StrOrPromise, help_text: StrOrPromise, most: int = _MOST_DAYS) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=help_text, required=False, min_value=0, max_value=most)


def _allowing_field(label: StrOrPromise, help_text: StrOrPromise) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, help_text=help_text, required=False, choices=_allowing)


def _allowing() -> list[tuple[str, StrOrPromise]]:
    return [("", built_in(_("allowed"))), ("allowed", _("allowed")), ("forbidden", _("forbidden"))]


def _roles() -> list[tuple[str, StrOrPromise]]:
    return [("", built_in(Role(settings.DEFAULT_ROLE).label)), *Role.choices]


def _required() -> list[tuple[str, StrOrPromise]]:
    return [("", built_in(Required(settings.SECOND_FACTOR).label)), *Required.choices]


def _languages() -> list[tuple[str, StrOrPromise]]:
    return [("", built_in(dict(settings.LANGUAGES)[settings.DEFAULT_LANGUAGE])), *settings.LANGUAGES]


class SiteSettingsForm(MailForm):
    """The settings, by their names in the environment; what that sets can't be changed here."""

    default_role = forms.ChoiceField(
        label=_("Role of new users"),
        required=False,
        choices=_roles,
        help_text=_("Of all who were given no role, by themselves or in a team."),
    )
    second_factor = forms.ChoiceField(
        label=_("Second factor is required of"),
        required=False,
        choices=_required,
        help_text=_(
            "Who has none is led to set one up, and can do nothing else until then; their API tokens are refused. "
            "Not of service accounts, nor of those whom a proxy logs in."
        ),
    )
    default_time_zone = text_field(
        _("Time zone"),
        max_length=60,
        list="zones",
        spellcheck="false",
        help_text=_("Of new digests, and of pages until a browser has told its own."),
    )
    default_language = forms.ChoiceField(
        label=_("Language of messages"),
        required=False,
        choices=_languages,
        help_text=_("Pages follow each reader's browser."),
    )
    share_days = _days_field(
        _("Share links expire after"),
        _("Days, unless the one who shares chooses otherwise. 0: never."),
        MOST_SHARE_DAYS,
    )
    share_links = _allowing_field(
        _("Share links"), _("Forbidden, none can be made, and those that there are show nothing.")
    )
    share_live = _allowing_field(_("Live links"), _("Links to a view that show what it is when it is opened."))
    share_endless = _allowing_field(_("Links without an expiry"), "")
    interval_days = _days_field(
        _("Intervals of trials are kept for"),
        _("Days after a run's end. Its figures stay. 0: for ever."),
    )
    detail_days = _days_field(
        _("Details of trials are kept for"),
        _("Days after a run's end: flows, evidence, raw results, intervals. Figures and histograms stay. 0: for ever."),
    )
    audit_days = _days_field(_("Audit log is kept for"), _("Days, at least 30. 0: for ever."))
    delivery_days = _days_field(_("Delivery log is kept for"), _("Days after a message's end. 0: for ever."))
    public_url = text_field(
        _("Address of these pages"),
        max_length=500,
        help_text=_("Such as https://bench.example.org: links in messages and in mail begin with it."),
    )
    engine_networks = text_field(
        _("Networks of engines"),
        max_length=4_000,
        help_text=_("Such as 10.0.0.0/8 !10.0.5.0/24: with spaces between them, and ! before each that is denied."),
    )
    notify_private_networks = text_field(
        _("Private networks that messages may go to"),
        max_length=4_000,
        help_text=_("Written in the same way. Public addresses are always allowed."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            # Django takes the initial value of a disabled field, whatever is sent.
            if is_locked(name.upper()):
                field.disabled = True
                self.initial[name] = "" if name == UNSHOWN else getattr(settings, name.upper())
            elif name != UNSHOWN and not isinstance(field, forms.ChoiceField):
                field.widget.attrs["placeholder"] = str(getattr(settings, name.upper()) or gettext("none"))

    @classmethod
    def of_now(cls) -> Self:
        """Return the form as it is stored."""
        chosen.read_now()
        return cls(initial={name.lower(): value for name, value in chosen.value().items()})

    def groups(self) -> Iterator[tuple[StrOrPromise, list[tuple[BoundField, str]]]]:
        """Return the groups of the page, each field with the name of its variable."""
        for title, names in _GROUPS:
            yield title, [(self[name], variable(name.upper())) for name in names]

    def _values(self) -> dict[str, Any]:
        """Return what was chosen by name, None for the built-in."""
        return {name.upper(): None if value == "" else value for name, value in self.cleaned_data.items()}

    @transaction.atomic
    def save(self) -> None:
        """Store what was chosen."""
        site_settings_save(self._values())
        self.save_password()

    def clean_default_time_zone(self) -> str:
        """Refuse a name that no zone has."""
        return known_zone(self.cleaned_data["default_time_zone"])

    def clean_audit_days(self) -> int | None:
        """Refuse days that the database doesn't let go."""
        days: int | None = self.cleaned_data["audit_days"]
        if days and days < FEWEST_AUDIT_DAYS:
            raise forms.ValidationError(_("0, or at least {days} days.").format(days=FEWEST_AUDIT_DAYS))
        return days

    def clean_public_url(self) -> str:
        """Refuse what no browser opens."""
        url: str = self.cleaned_data["public_url"]
        parts = urlsplit(url)
        if url and not (parts.scheme in ("http", "https") and parts.netloc):
            raise forms.ValidationError(_("Write an address such as https://bench.example.org."))
        if url != site_setting("PUBLIC_URL") and not has_own_path(url):
            raise forms.ValidationError(_("These pages are at another path of their host: see BENCHWEB_BASE_PATH."))
        return url

    def clean_engine_networks(self) -> str:
        """Refuse what is no network."""
        return self._networks("engine_networks")

    def clean_notify_private_networks(self) -> str:
        """Refuse what is no network."""
        return self._networks("notify_private_networks")

    def _networks(self, name: str) -> str:
        text: str = self.cleaned_data[name]
        try:
            parsed_networks(text)
        except NetworksError as error:
            raise forms.ValidationError(str(error)) from error
        return text


class DaysForm(PageForm):
    """For how many days something would be kept, to see what would go."""

    days = forms.IntegerField(label=_("Kept for, in days"), min_value=0, max_value=_MOST_DAYS)
