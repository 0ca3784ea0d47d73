"""The form of pairs."""

from collections.abc import Iterator

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.permissions import Place
from benchweb.hosts import selectors
from benchweb.hosts.belonging import places_paired
from benchweb.hosts.models import Endpoint, Environment
from benchweb.web.shared.forms import PageForm, labels_field

_HELP_LABELS = _("Words to find and compare pairs by, separated by commas.")


class EndpointChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # not subscriptable at run time
    """A choice of an endpoint that says how it is reached."""

    def label_from_instance(self, endpoint: Endpoint) -> str:
        return f"{endpoint} · {endpoint.data_address or endpoint.control_address}"


class PairForm(PageForm):
    """Source, sink, environment, and whether to make the other direction too."""

    source = EndpointChoice(
        label=_("Source"),
        queryset=Endpoint.objects.none(),
        empty_label=_("Choose a source"),
        help_text=_("The endpoint that sends."),
        error_messages={
            "required": _("Choose the sending endpoint."),
            "invalid_choice": _("This endpoint is archived."),
        },
    )
    sink = EndpointChoice(
        label=_("Sink"),
        required=False,
        queryset=Endpoint.objects.none(),
        empty_label=_("None: the source host alone"),
        help_text=_(
            "The endpoint that receives. Connections are always opened from source to sink. Tests of memory and disks "
            "need no sink."
        ),
        error_messages={"invalid_choice": _("This endpoint is archived.")},
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        empty_label=_("Choose an environment"),
        help_text=_("The label under which results are compared."),
        error_messages={"required": _("Choose an environment."), "invalid_choice": _("This environment is archived.")},
    )
    labels = labels_field(_HELP_LABELS)
    both_directions = forms.BooleanField(
        label=_("Also add the reverse direction"),
        required=False,
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        endpoints = selectors.endpoints_usable()
        for name, rows in (("source", endpoints), ("sink", endpoints), ("environment", _environments())):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)  # noqa: S101  for mypy: declared above
            field.queryset = rows

    def places(self) -> Iterator[Place]:
        """Return where it takes a role to make the pair of the valid form."""
        data = self.cleaned_data
        ends = [data["source"].pk, (data["sink"] or data["source"]).pk]
        return places_paired(data["environment"].pk, ends)


class PairDetailsForm(PageForm):
    """Label a pair, or move it to another environment; its ends stay, for its history belongs to them."""

    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        help_text=_("The pair's runs and series move with it."),
        error_messages={"required": _("Choose an environment."), "invalid_choice": _("This environment is archived.")},
    )
    labels = labels_field(_HELP_LABELS)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["environment"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101  for mypy: declared above
        field.queryset = _environments()


def _environments() -> QuerySet[Environment]:
    return Environment.objects.filter(archived_at=None)
