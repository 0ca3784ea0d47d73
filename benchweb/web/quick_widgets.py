"""Form fields written by functions: inputs and selects, which Django makes of a template for each tag and attribute.

A select of twenty choices is 45 templates, a sixth of what a page of the history does. What is written is the same.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

_Widget = Mapping[str, Any]
_FOLDER = "django/forms/widgets/"
_INPUTS = ("date", "datetime", "email", "hidden", "input", "number", "password", "search", "tel", "text", "time", "url")


class Renderer(DjangoTemplates):
    """Django's renderer of forms, but for the widgets below."""

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        """Write a widget by its function, where it has one."""
        write = _WRITERS.get(template_name)
        return write(context["widget"]) if write else super().render(template_name, context, request)


def _input(widget: _Widget) -> SafeString:
    value = "" if widget["value"] is None else f' value="{conditional_escape(widget["value"])}"'
    kind, name = conditional_escape(widget["type"]), conditional_escape(widget["name"])
    # All of it is escaped, here and below.
    return SafeString(f'<input type="{kind}" name="{name}"{value}{_attributes(widget)}>')


def _select(widget: _Widget) -> SafeString:
    groups = "".join(_group(label, options) for label, options, _number in widget["optgroups"])
    name = conditional_escape(widget["name"])
    return SafeString(f'<select name="{name}"{_attributes(widget)}>{groups}\n</select>')


def _group(label: Any, options: list[_Widget]) -> str:
    written = "".join(f"\n  {_option(option)}" for option in options)
    return f'\n  <optgroup label="{conditional_escape(label)}">{written}\n  </optgroup>' if label else written


def _option(option: _Widget) -> str:
    value, label = conditional_escape(option["value"]), conditional_escape(option["label"])
    return f'<option value="{value}"{_attributes(option)}>{label}</option>\n'


def _attributes(widget: _Widget) -> str:
    return "".join([_attribute(name, value) for name, value in widget["attrs"].items() if value is not False])


def _attribute(name: str, value: Any) -> str:
    """Write an attribute; of one that is True the name alone."""
    return f" {conditional_escape(name)}" + ("" if value is True else f'="{conditional_escape(value)}"')


_WRITERS: dict[str, Callable[[_Widget], SafeString]] = {
    **{f"{_FOLDER}{name}.html": _input for name in _INPUTS},
    f"{_FOLDER}select.html": _select,
}
