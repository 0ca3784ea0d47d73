"""A field for the speed of a link, written as people do: 10G, 2.5 Gbit/s, 100M."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

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
            raise ValidationError(_("Write a speed such as 10G, 2.5 Gbit/s or 100M."))
        number, prefix = written.groups()
        return float(number) * _FACTORS["k" if prefix == "K" else prefix]


def link_speed_text(bps: float) -> str:
    """Write a speed as the field takes it: 10 Gbit/s."""
    prefix, factor = next(
        ((prefix, factor) for prefix, factor in reversed(_FACTORS.items()) if bps >= factor), ("", 1.0)
    )
    return f"{bps / factor:g} {prefix}bit/s"
