"""The form of a report: template, runs by their numbers, how repetitions are combined, and its author's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchweb.reports.models import Report
from benchweb.reports.selectors import runs_of
from benchweb.reports.services import LONGEST_TEXT, MOST_RUNS, ReportValues
from benchweb.reports.templates import TEMPLATES
from benchweb.web.shared.forms import PageForm, text_field

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_RANGE = re.compile(r"(\d{1,18})(?:\s*[-–]\s*(\d{1,18}))?")
_BETWEEN = re.compile(r"[\s,;，；、]+")


def _prose(label: StrOrPromise, help_text: StrOrPromise = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=help_text,
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class ReportForm(PageForm):
    """Fields as they were posted; `values` are what the service takes."""

    title = text_field(_("Title"), required=True, max_length=200)
    template = forms.ChoiceField(label=_("Template"))
    runs = text_field(
        _("Runs"), required=True, max_length=400, help_text=_("Numbers in the order of the report, such as 12, 14–16.")
    )
    statistic = forms.ChoiceField(label=_("Figures are the"), choices=Report.Statistic.choices)
    modes = text_field(
        _("Order of network modes"), help_text=_("Of network modes × modes alone, such as host, terway, terway-eni.")
    )
    chosen_settings = _prose(
        _("Settings of the tables"),
        _("Where a test was measured at several: one a line, by the name that the report gives it."),
    )
    remaining = _prose(
        _("Remaining bandwidth"),
        _("Of a WAN's paths, a line a run: “12: 400 Mbit/s, by the provider” or “12: under 500 Mbit/s of backups”."),
    )
    environment = _prose(
        _("Test environment"),
        _(
            "What the engines don't report: switches, cabling, settings. What stands under “## NAME” is about that "
            "environment alone, here and in the conclusion."
        ),
    )
    method = _prose(_("Test method"))
    conclusion = _prose(_("Conclusion"))

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        choices = [(template.key, f"{gettext(template.title)}: {gettext(template.summary)}") for template in TEMPLATES]
        self.fields["template"].choices = choices  # type: ignore[attr-defined]

    @classmethod
    def of(cls, report: Report) -> ReportForm:
        """Return the form with what a report has."""
        initial = {name: getattr(report, name) for name in cls.base_fields if name != "runs"}
        runs = ", ".join(str(run.pk) for run in runs_of(report))
        texts = {"modes": ", ".join(report.modes), "chosen_settings": "\n".join(report.chosen_settings)}
        return cls(initial={**initial, "runs": runs, **texts})

    def clean_runs(self) -> list[int]:
        """Read numbers and ranges of runs."""
        ids: list[int] = []
        for part in filter(None, _BETWEEN.split(re.sub(r"\s*[-–]\s*", "-", self.cleaned_data["runs"]).strip())):
            read = _RANGE.fullmatch(part)
            if read is None:
                raise forms.ValidationError(gettext("{text} is no number of a run.").format(text=f"{part[:40]!r}"))
            first, last = int(read[1]), int(read[2] or read[1])
            if last - first >= MOST_RUNS:
                raise forms.ValidationError(gettext("Choose 1 to {most} runs.").format(most=MOST_RUNS))
            ids += range(first, last + 1)
        return ids

    def values(self) -> ReportValues:
        """Return what the service takes."""
        data = self.cleaned_data
        modes = [mode for mode in _BETWEEN.split(data["modes"]) if mode]
        settings = [line.strip() for line in data["chosen_settings"].splitlines() if line.strip()]
        return ReportValues(**{**data, "modes": modes, "chosen_settings": settings})
