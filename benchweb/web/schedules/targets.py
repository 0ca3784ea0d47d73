"""Ask for a schedule's target: the kinds of targets, their fields, and the data they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchweb.hosts.models import Endpoint

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

TARGETS = [
    ("environment", _("All pairs of an environment")),
    ("mesh", _("Full mesh of selected endpoints")),
    ("pairs", _("Individual pairs")),
    ("label", _("All pairs of hosts with a label")),
    ("modes", _("Network modes: each source mode to each sink mode")),
]
# The fields that have to be filled in for each.
TARGET_FIELDS = {
    "pairs": ("pairs",),
    "environment": ("environment",),
    "label": ("label",),
    "mesh": ("endpoints",),
    "modes": ("source_modes", "sink_modes", "modes_environment"),
}


class EndpointChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # not subscriptable at run time
    """A choice of endpoints that says how each is reached."""

    def label_from_instance(self, endpoint: Endpoint) -> str:
        return f"{endpoint} · {endpoint.data_address or endpoint.control_address}"


def modes_field(label: StrOrPromise) -> forms.MultipleChoiceField:
    """Return a field of network modes as boxes."""
    return forms.MultipleChoiceField(
        label=label,
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        error_messages={"invalid_choice": _("No endpoint has the mode %(value)s.")},
    )


def initial_target(target: dict[str, Any]) -> dict[str, Any]:
    """Return the form's values for a stored target."""
    mesh = target.get("mesh")
    if mesh is None:
        (name, value), *_ = target.items()
        return {"target": name, name: value}
    if "endpoints" in mesh:
        return {"target": "mesh", "endpoints": mesh["endpoints"], "mesh_environment": mesh.get("environment")}
    modes = {name: mesh.get(name, []) for name in ("source_modes", "sink_modes")}
    return {"target": "modes", "modes_environment": mesh.get("environment"), **modes}


def _ids(rows: Any) -> list[int]:
    return sorted(row.pk for row in rows or ())


def _mesh(data: dict[str, Any]) -> dict[str, Any]:
    environment = data.get("mesh_environment")
    return {"endpoints": _ids(data.get("endpoints"))} | ({"environment": environment.pk} if environment else {})


def _modes(data: dict[str, Any]) -> dict[str, Any]:
    environment = data.get("modes_environment")
    modes = {name: data.get(name, []) for name in ("source_modes", "sink_modes")}
    return modes | ({"environment": environment.pk} if environment else {})


# The target of each kind, as the services take it, from the form's cleaned data.
TARGET_DATA: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "pairs": lambda data: {"pairs": _ids(data.get("pairs"))},
    "environment": lambda data: {"environment": data["environment"].pk if data.get("environment") else None},
    "label": lambda data: {"label": data.get("label", "")},
    "mesh": lambda data: {"mesh": _mesh(data)},
    "modes": lambda data: {"mesh": _modes(data)},
}
