"""The form of many pairs at once: a mesh, or a hub and its spokes."""

from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.permissions import Place
from benchweb.common.names import name_key
from benchweb.common.rows import row_id, row_ids
from benchweb.hosts import selectors, services
from benchweb.hosts.belonging import places_paired
from benchweb.hosts.errors import HostsError
from benchweb.hosts.meshes import Mesh, mesh_of
from benchweb.hosts.models import Endpoint, Environment
from benchweb.hosts.naming import name_holder
from benchweb.web.pairs.forms import EndpointChoice
from benchweb.web.shared.forms import PageForm, text_field

MESH, HUB = "mesh", "hub"
# What an environment is called where nobody says.
DEFAULT_ENVIRONMENT = "mesh"


class MeshForm(PageForm):
    """Endpoints, the shape of their pairs, and the environment that these are in."""

    shape = forms.ChoiceField(choices=[(MESH, MESH), (HUB, HUB)], initial=MESH)
    endpoints = forms.ModelMultipleChoiceField(
        label=_("Endpoints"),
        queryset=Endpoint.objects.none(),
        error_messages={
            "required": _("Choose endpoints of at least two hosts."),
            "invalid_choice": _("A selected endpoint has been archived: check the selection."),
        },
    )
    hub = EndpointChoice(
        label=_("Hub"),
        queryset=Endpoint.objects.none(),
        required=False,
        empty_label=_("Choose the hub"),
        help_text=_("Paired with each endpoint chosen below."),
        error_messages={"invalid_choice": _("This endpoint is archived.")},
    )
    both_directions = forms.BooleanField(
        label=_("Also from each spoke to the hub"),
        required=False,
        initial=True,
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        required=False,
        empty_label=_("A new environment"),
        help_text=_("The label under which results are compared."),
        error_messages={"invalid_choice": _("This environment is archived.")},
    )
    new_environment = text_field(_("Name of the new environment"), max_length=100)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usable = selectors.endpoints_usable()
        environments = Environment.objects.filter(archived_at=None)
        for name, rows in (("endpoints", usable), ("hub", usable), ("environment", environments)):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)  # noqa: S101  for mypy: declared above
            field.queryset = rows

    @classmethod
    def of_address(cls, data: QueryDict) -> Self:
        """Return the form as an address fills it in: `shape`, `label`, `endpoints`, `environment`."""
        shape = HUB if data.get("shape") == HUB else MESH
        chosen = row_ids(data.getlist("endpoints"))
        if label := data.get("label", ""):
            labelled = selectors.endpoints_usable().filter(host__labels__contains=[label])
            chosen += labelled.values_list("pk", flat=True)
        environment = row_id(data.get("environment", "")) or _only_environment()
        given = {"shape": shape, "endpoints": chosen, "environment": environment}
        return cls(initial=given | {"new_environment": DEFAULT_ENVIRONMENT})

    @property
    def chosen(self) -> set[int]:
        """Return the ids of the endpoints that are ticked."""
        return set(row_ids(map(str, self["endpoints"].value() or [])))

    def clean(self) -> dict[str, Any]:
        """Require a hub where the shape has one, and an environment or a name for one."""
        if self.cleaned_data.get("shape") == HUB and not self.cleaned_data.get("hub") and "hub" not in self.errors:
            self.add_error("hub", _("Choose the hub."))
        if not self.cleaned_data.get("environment") and "environment" not in self.errors:
            self.cleaned_data["environment"] = self._named_environment()
        return self.cleaned_data

    def mesh(self) -> Mesh:
        """Return what the valid form asks for; raise HostsError."""
        data = self.cleaned_data
        return mesh_of(
            endpoints=data["endpoints"].select_related("host"),
            environment=data["environment"],
            hub=self.centre,
            both=data["both_directions"],
        )

    @property
    def centre(self) -> Endpoint | None:
        """Return the hub, of the shape that has one."""
        centre: Endpoint | None = self.cleaned_data["hub"] if self.cleaned_data["shape"] == HUB else None
        return centre

    def places(self) -> Iterator[Place]:
        """Return where it takes a role to make the pairs of the valid form."""
        ends = self.chosen | ({self.centre.pk} if self.centre else set())
        return places_paired(self.cleaned_data["environment"].pk, ends)

    def save_environment(self) -> None:
        """Make the environment where it is a new one; raise HostsError."""
        environment = self.cleaned_data["environment"]
        if not environment.pk:
            try:
                self.cleaned_data["environment"] = services.environment_create(name=environment.name)
            except HostsError as error:
                raise HostsError("new_environment", error.message, error.other) from error

    def address_of_pairs(self) -> str:
        """Return the query by which another form chooses these pairs."""
        hub = self.centre
        values = {"environment": self.cleaned_data["environment"].pk, "endpoints": sorted(self.chosen)}
        if hub is not None:
            values |= {"hub": hub.pk} | ({} if self.cleaned_data["both_directions"] else {"one_way": 1})
        return urlencode(values, doseq=True)

    def _named_environment(self) -> Environment | None:
        """Return the environment in use with the name that was typed, else an unsaved one."""
        name = self.cleaned_data.get("new_environment", "")
        if not name:
            self.add_error("new_environment", _("Choose an environment, or name a new one."))
            return None
        return name_holder(Environment, name) or Environment(name=name, name_key=name_key(name))


def _only_environment() -> int | None:
    """Return the environment in use where there is no choice."""
    ids = list(Environment.objects.filter(archived_at=None).values_list("pk", flat=True)[:2])
    return ids[0] if len(ids) == 1 else None
